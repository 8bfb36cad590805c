// Signs in with a real browser, on the workshop's page for its staff, hires somebody there,
// and prints what the page says.
//
//   node browser.mjs PAGE SERVICE NAME

import { chromium } from 'playwright-core'

const [address, service, name] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'], // tests run as root in containers
})
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(20_000)
  page.on('console', (message) => console.log(`console: ${message.text()}`))
  page.on('pageerror', (error) => console.log(`error: ${error}`))
  const origins = []
  const responses = []
  page.on('response', (response) => {
    if (response.url().startsWith(`${service}/auth/`)) responses.push(response)
  })
  page.on('request', (request) => {
    const { origin } = new URL(request.url())
    if (request.isNavigationRequest() && origins.at(-1) !== origin) origins.push(origin)
  })
  const says = async () => (await page.waitForFunction(() => {
    const said = document.querySelector('#said')
    const text = said?.textContent
    if (text) said.textContent = ''
    return text
  })).jsonValue()

  await page.goto(address)
  await page.click('#sign-in')
  console.log(`page: ${await says()}`)
  await page.fill('#hire input', name)
  await page.click('#hire button')
  console.log(`page: ${await says()}`)
  if (page.url() !== address) throw new Error(`the browser ends at ${page.url()}`)

  const here = new URL(address).origin
  const named = origins.map((origin) => ({ [here]: 'page', [service]: 'service' })[origin] ?? 'provider')
  console.log(`way: ${named.join(' ')}`)
  const headers = (await Promise.all(responses.map((response) => response.headersArray()))).flat()
  const changes = headers.filter(({ name }) => name.toLowerCase() === 'set-cookie').map(({ value }) => value)
  const left = (await page.context().cookies()).filter((cookie) => cookie.name.includes('sternpost'))
  console.log(`cookies of the service: ${changes.filter((c) => c.includes('Max-Age=600')).length} set, ` +
    `${changes.filter((c) => c.includes('Max-Age=0')).length} taken away, ${left.length} left; ` +
    `a script may read ${changes.filter((c) => !c.includes('HttpOnly')).length}`)
} finally {
  await browser.close()
}
