// The work of a browser, for clients that are not browsers: it follows redirects with
// cookies, up to an address without a server.

export async function browse(address, end) {
  const cookies = new Map()
  for (let hops = 0; hops < 20; hops++) {
    if (address.href.startsWith(end)) return address
    const header = [...(cookies.get(address.host) ?? new Map())].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, { redirect: 'manual', headers: header ? { cookie: header } : {} })
    const kept = cookies.get(address.host) ?? new Map()
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      kept.set(name, value)
    }
    cookies.set(address.host, kept)
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${address} answers ${response.status}: ${await response.text()}`)
    address = new URL(location, address)
  }
  throw new Error('too many redirects')
}

// call creates a record, which needs a signed-in caller.
export async function call(base, accessToken) {
  const response = await fetch(new URL('/api/json/createNote', base), {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'from a client' }),
  })
  if (response.status !== 200) throw new Error(`createNote answers ${response.status}: ${await response.text()}`)
}
