// A provider that is certified for OpenID Connect and strict about requests. It signs in
// its one user without a form.
//
//   node oidc-provider.mjs PORT CLIENT_ID CLIENT_SECRET CALLBACK...

import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [port, clientID, clientSecret, ...callbacks] = process.argv.slice(2)
const issuer = `http://127.0.0.1:${port}`
const provider = new Provider(issuer, {
  clients: [{
    client_id: clientID,
    client_secret: clientSecret,
    redirect_uris: callbacks,
    response_types: ['code'],
    grant_types: ['authorization_code'],
  }],
  pkce: { required: () => true },
  conformIdTokenClaims: false, // the ID token has the claims of the scopes
  claims: { email: ['email', 'email_verified'], profile: ['name', 'locale'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['only for tests'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: 'Grace@Example.com', email_verified: true, name: 'Grace', locale: 'en-GB' }),
  }),
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId })
    grant.addOIDCScope('openid email profile')
    await grant.save()
    return grant
  },
})
const handle = provider.callback()
createServer((request, response) => {
  if (request.url.startsWith('/interaction/')) {
    provider.interactionFinished(request, response, { login: { accountId: 'grace' } }).catch((e) => {
      response.writeHead(500).end(String(e))
    })
    return
  }
  handle(request, response)
}).listen(Number(port), '127.0.0.1', () => console.log(`listening ${issuer}`))
