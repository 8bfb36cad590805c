// PostGraphile over the tables of the benchmark: DATABASE_URL says where they are, and HOST and PORT where to listen.
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

// PostGraphile 5.1 needs Node.js 22 or later.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: process.env.DATABASE_URL, schemas: ["app"] })],
  grafserv: { watch: false, graphiql: false },
  grafast: { explain: false },
};

const server = createServer();
server.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
await postgraphile(preset).createServ(grafserv).addTo(server);
server.listen(Number(process.env.PORT), process.env.HOST);
