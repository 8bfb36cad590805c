// Uses the sign-in page of the guide in Chromium, and prints what the page says.
//
//   node page.mjs PAGE SERVICE

import { createHmac } from 'node:crypto'
import { chromium } from 'playwright-core'

const [address, service] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.on('pageerror', (error) => console.log(`error: ${error}`))
  const shown = () => page.$$eval('form', (forms) => forms.filter((form) => !form.hidden).map((form) => form.id).join())
  // Presses a button and waits for the form and the text that follow.
  const press = async (name, form, text) => {
    await page.locator('#said').evaluate((said) => (said.textContent = ''))
    await page.getByRole('button', { name, exact: true }).click()
    await page.waitForFunction(([form, text]) => {
      const open = [...document.forms].filter((one) => !one.hidden)
      const said = document.querySelector('#said').textContent
      return open.length === 1 && open[0].id === form && (text === undefined || said.startsWith(text))
    }, [form, text])
    console.log(`${name}: ${await shown()}: ${(await page.textContent('#said')).replace(/: [a-z0-9]{4}-.*|: The operation .*/, ': …')}`)
  }
  const fill = async (username, password) => {
    await page.fill('#sign-in [name=username]', username)
    await page.fill('#sign-in [name=password]', password)
  }
  const mailed = async (subject) => {
    const mails = await context.newPage()
    for (let n = 0; n < 100; n++) {
      await mails.goto(service + '/mail')
      const link = await mails.locator('article', { hasText: subject }).first().locator('a').first().getAttribute('href').catch(() => null)
      if (link) {
        await mails.close()
        return link
      }
    }
  }
  const codeOf = (otpauthUrl, steps = 0) => {
    const letters = [...new URL(otpauthUrl).searchParams.get('secret')]
    const bits = letters.map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('')
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
    const sum = createHmac('sha1', Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))).update(counter).digest()
    return String((sum.readUInt32BE(sum[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
  }

  await page.goto(address)
  await fill('ada@example.com', 'a right canary')
  await press('Sign in', 'sign-in', 'That did not work') // no account is made by mistake
  await press('Create an account', 'account', 'You are signed in')
  await press('Sign out', 'sign-in', 'You have signed out')

  await page.goto(await mailed('Confirm'))
  if (page.url() !== address) console.log(`the address is ${page.url()}`)
  await page.fill('#verify [name=password]', 'a right canary')
  await press('This is my e-mail address', 'sign-in', 'Your e-mail')

  await page.fill('#sign-in [name=username]', 'ada@example.com')
  await press('I have forgotten my password', 'sign-in', 'If there is')
  await page.goto(await mailed('password'))
  await page.fill('#reset [name=password]', 'another canary')
  await press('Change the password', 'sign-in', 'Your password')

  await fill('ada@example.com', 'a wrong canary')
  await press('Sign in', 'sign-in', 'That did not work')
  await fill('ada@example.com', 'another canary')
  await press('Sign in', 'account', 'You are signed in')
  await press('Add an authenticator app', 'account')
  await page.waitForSelector('#new-app:not([hidden])')
  const otpauthUrl = await page.textContent('#new-app code')
  await page.fill('#new-app [name=code]', codeOf(otpauthUrl, -1))
  await press('Confirm the app', 'account', 'Keep these')
  const [recovery] = (await page.textContent('#said')).match(/\S+$/)
  await press('Sign out', 'sign-in', 'You have signed out')

  await fill('ada@example.com', 'another canary')
  await press('Sign in', 'factor')
  await page.fill('#factor [name=code]', '1')
  await press('Continue', 'factor', 'That did not work')
  await page.fill('#factor [name=code]', codeOf(otpauthUrl))
  await press('Continue', 'account', 'You are signed in')
  console.log(`factors: ${await page.textContent('#factors')} sessions: ${await page.locator('#sessions li').count()}`)
  await page.reload()
  await page.waitForSelector('#account:not([hidden])')

  // The session is old. Removing the app asks for the password and the factor, and then goes on.
  await (await fetch(process.env.AGE)).text()
  await press('Remove the app', 'sign-in', 'Please sign in again')
  await fill('ada@example.com', 'another canary')
  await press('Sign in', 'factor')
  await page.fill('#factor [name=code]', recovery)
  await press('Continue', 'account', 'You are signed in')
  await page.waitForFunction(() => document.querySelector('#factors').textContent === 'None.')
  const sizes = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
  console.log(`removed; it fits: ${sizes}`)

  // A passkey is made, signs in alone, behind the password, and for an old session; then it is removed.
  const authenticator = await context.newCDPSession(page)
  await authenticator.send('WebAuthn.enable')
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true }
  const { authenticatorId } = await authenticator.send('WebAuthn.addVirtualAuthenticator', { options })
  await page.bringToFront()
  await press('Add a passkey', 'account', 'Keep these')
  await press('Sign out', 'sign-in', 'You have signed out')
  await press('Sign in with a passkey', 'account', 'You are signed in')
  await press('Sign out', 'sign-in', 'You have signed out')
  await fill('ada@example.com', 'another canary')
  await press('Sign in', 'factor')
  await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await press('Use a passkey', 'factor', 'That did not work')
  await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  await press('Use a passkey', 'account', 'You are signed in')
  await (await fetch(process.env.AGE)).text()
  await press('Sign out everywhere else', 'sign-in', 'Please sign in again')
  await press('Sign in with a passkey', 'account', 'You are signed in')
  await page.waitForFunction(() => document.querySelectorAll('#sessions li').length === 1)
  console.log(`factors: ${await page.textContent('#factors')} sessions: ${await page.locator('#sessions li').count()}`)
  await page.locator('#passkeys button').click()
  await page.waitForFunction(() => document.querySelector('#factors').textContent === 'None.')
  await press('Sign out', 'sign-in', 'You have signed out')
  await press('Sign in with a passkey', 'sign-in', 'That did not work')
} finally {
  await browser.close()
}
