// Calls tools without arguments in one session of the client that the inspector has, and writes each answer on a line:
//
//	node call.mjs ADDRESS TOKEN TOOL...
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [address, token, ...tools] = process.argv.slice(2)
const client = new Client({ name: 'call', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }))
await client.listTools() // from then on the client compares answers with their schemas
for (const name of tools) {
  const answer = await client.callTool({ name, arguments: {} }).catch((fault) => ({ fault: String(fault) }))
  console.log(JSON.stringify(answer))
}
await client.close()
