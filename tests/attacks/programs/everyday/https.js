const https = require("https");

function get(options) {
  return new Promise((resolve, reject) => {
    https.get(URL, options, (reply) => reply.on("data", (data) => resolve(String(data)))).on("error", reject);
  });
}

get({}).catch((error) => {
  if (error.code !== "DEPTH_ZERO_SELF_SIGNED_CERT") throw error;
  console.log("refused");
  return get({ ca: CA });
}).then(console.log);
