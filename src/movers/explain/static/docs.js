// The manual of the API: Swagger UI on the document of this server, with its token if it has one.
"use strict";

const entry = document.getElementById("entry");
let token = "";

async function show() {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch("openapi.json", { headers });
  entry.hidden = answer.status !== 401;
  if (!answer.ok) return;
  SwaggerUIBundle({
    spec: await answer.json(),
    dom_id: "#swagger",
    deepLinking: true,
    validatorUrl: null,
    requestInterceptor: (request) => {
      if (token) request.headers.Authorization = `Bearer ${token}`;
      return request;
    },
  });
}

entry.addEventListener("submit", (event) => {
  event.preventDefault();
  token = document.getElementById("token").value;
  show();
});
show();
