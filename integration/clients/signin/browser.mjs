// Signs in with a real browser, from a page to a call that only those may make who
// have signed in, and prints what the page says then.
//
//   node browser.mjs PAGE

import { chromium } from 'playwright-core'

const [address] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'], // tests run as root in containers
})
try {
  const page = await browser.newPage()
  page.on('console', (message) => console.log(`console: ${message.text()}`))
  page.on('pageerror', (error) => console.log(`error: ${error}`))
  const visited = []
  page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).origin))
  await page.goto(address)
  await page.click('#sign-in')
  const said = await page.waitForFunction(() => document.querySelector('#result')?.textContent, null, { timeout: 20_000 })
  console.log(`page: ${await said.jsonValue()}`)
  if (page.url() !== address) throw new Error(`the browser ends at ${page.url()}`)
  const cookies = await page.context().cookies()
  console.log(`cookies a script may read: ${cookies.filter((c) => c.name.includes('sternpost') && !c.httpOnly).length}`)
} finally {
  await browser.close()
}
