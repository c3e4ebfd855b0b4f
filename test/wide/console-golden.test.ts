/** Two screens of the console with fixed data, compared with stored pictures. `GOLDEN=write` stores them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { sampleHost } from '../host/sample-host.ts'
import { chromium, NO_CHROMIUM } from './support/chromium.ts'
import { startBrowser } from './support/console-host.ts'
import { differenceOf, fixPage, GOLDEN_SCREENS } from './support/golden.ts'

/** A change of a word is below it, a moved or missing panel above. */
const TOLERANCE = 0.005

let browser: Browser

beforeAll(async () => {
  if (chromium !== undefined) browser = await startBrowser(chromium)
})
afterAll(() => browser?.close())

describe.skipIf(chromium === undefined)('the picture of', () => {
  it.each(GOLDEN_SCREENS)('%s is the stored one', async (name, path) => {
    await using host = await sampleHost()
    const url = await host.app.listen({ port: 0, host: '127.0.0.1' })
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 800 },
      colorScheme: 'light',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const unknown = await fixPage(page)
    await page.goto(`${url}/console/${path}`)
    await page.locator('aside.panel').first().waitFor()
    await page.getByText('Computing the states').waitFor({ state: 'detached' })
    await page.evaluate('document.fonts.ready')
    expect(await differenceOf(page, name)).toBeLessThan(TOLERANCE)
    expect(unknown).toEqual([])
    await context.close()
  })
})

it.runIf(chromium === undefined)('needs a Chromium', ({ skip }) => {
  expect(chromium).toBeUndefined()
  skip(NO_CHROMIUM)
})
