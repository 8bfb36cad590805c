// Signs in with oauth4webapi, which checks every answer by the letter: discovery, a code
// with PKCE, the issuer in the response, refresh, revocation.
//
//   node oauth4webapi.mjs BASE REDIRECT_URI

import * as oauth from 'oauth4webapi'
import { browse, call } from './browse.mjs'

const [base, redirectURI] = process.argv.slice(2)
const insecure = { [oauth.allowInsecureRequests]: true } // on loopback
const issuer = new URL(base)
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }))
const client = { client_id: 'not-registered' }

const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()
const authorize = new URL(as.authorization_endpoint)
authorize.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: redirectURI,
  response_type: 'code',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
})
const end = await browse(authorize, redirectURI)
const parameters = oauth.validateAuthResponse(as, client, end, state)

const granted = await oauth.processAuthorizationCodeResponse(as, client,
  await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), parameters, redirectURI, verifier, insecure))
await call(base, granted.access_token)
console.log('ok signed in')

const refreshed = await oauth.processRefreshTokenResponse(as, client,
  await oauth.refreshTokenGrantRequest(as, client, oauth.None(), granted.refresh_token, insecure))
await call(base, refreshed.access_token)
console.log('ok refreshed')

await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), refreshed.refresh_token, insecure))
const error = await oauth.processRefreshTokenResponse(as, client,
  await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refreshed.refresh_token, insecure)).catch((e) => e)
if (!(error instanceof oauth.ResponseBodyError) || error.error !== 'invalid_grant') throw error
console.log('ok revoked')
