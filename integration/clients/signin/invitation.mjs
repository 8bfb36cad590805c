// Accepts an invitation on the sign-in page of the guide in Chromium, and prints what the page says.
//
//   node invitation.mjs LINK PASSWORD

import { chromium } from 'playwright-core'

const [link, password] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(20_000)
  page.on('pageerror', (error) => console.log(`error: ${error}`))
  const press = async (text) => {
    await page.getByRole('button', { name: 'Accept the invitation' }).click()
    await page.waitForFunction((text) => document.querySelector('#said').textContent.startsWith(text), text)
    console.log(await page.textContent('#said'))
  }
  await page.goto(link)
  console.log(await page.textContent('#said'), new URL(page.url()).search)
  await press('That did not work')
  await page.fill('#invitation [name=password]', password)
  await press('You are signed in')
  await page.reload()
  await page.waitForSelector('#account:not([hidden])')
  console.log(`sessions: ${await page.locator('#sessions li').count()}`)
} finally {
  await browser.close()
}
