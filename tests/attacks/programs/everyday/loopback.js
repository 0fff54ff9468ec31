const server = require('http').createServer((request, response) => response.end('hello'));
server.listen(0, 'localhost', async () => {
  const answer = await fetch(`http://localhost:${server.address().port}/`);
  console.log(answer.status, await answer.text());
  server.close();
});
