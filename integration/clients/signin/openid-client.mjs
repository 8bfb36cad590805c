// Signs in with openid-client as its documentation shows.
//
//   node openid-client.mjs BASE REDIRECT_URI

import * as client from 'openid-client'
import { browse, call } from './browse.mjs'

const [base, redirectURI] = process.argv.slice(2)
const config = await client.discovery(new URL(base), 'not-registered', undefined, client.None(), {
  algorithm: 'oauth2',
  execute: [client.allowInsecureRequests], // on loopback
})

const verifier = client.randomPKCECodeVerifier()
const state = client.randomState()
const authorize = client.buildAuthorizationUrl(config, {
  redirect_uri: redirectURI,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
})
const end = await browse(authorize, redirectURI)
const granted = await client.authorizationCodeGrant(config, end, { pkceCodeVerifier: verifier, expectedState: state })
await call(base, granted.access_token)
console.log('ok signed in')

const refreshed = await client.refreshTokenGrant(config, granted.refresh_token)
await call(base, refreshed.access_token)
console.log('ok refreshed')

await client.tokenRevocation(config, refreshed.refresh_token)
const error = await client.refreshTokenGrant(config, refreshed.refresh_token).catch((e) => e)
if (error.error !== 'invalid_grant') throw error
console.log('ok revoked')
