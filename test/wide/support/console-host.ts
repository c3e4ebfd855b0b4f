/** Starts a host with a small plant for tests of the console, and opens pages of the console in a browser. */
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { type Client, createClient } from '../../../src/client.ts'
import { createApp } from '../../../src/host/app.ts'
import { compose } from '../../../src/host/compose.ts'
import { readConfig } from '../../../src/host/config.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import { freePort } from '../../support/free-port.ts'

export const PAIR = { key: 'operator', secret: 'secret-of-operator' }

export const OVERHEATING = {
  name: 'overheating',
  description: 'An alarm when a boiler is above 90 °C and its pump stands still.',
  sensors: [
    {
      label: 'temperature',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 90 },
    },
    { label: 'pump_runs', name: 'condition', resource: '$', properties: { condition: 'pump == true' } },
  ],
  relations: [
    {
      label: 'hot_and_still',
      type: 'AND',
      parentLabels: ['temperature', 'pump_runs'],
      combinations: [['Above', 'False']],
    },
  ],
  actuators: [
    {
      label: 'alarm',
      name: 'createAlarm',
      properties: {
        type: 'overheating',
        severity: 'CRITICAL',
        text: '{{RESOURCE}} is at {{GLOBAL.temperature}} °C and its pump stands still',
      },
    },
    { label: 'all_clear', name: 'clearAlarm', properties: { type: 'overheating' } },
  ],
  triggers: [
    { sourceLabel: 'hot_and_still', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 3600 },
    {
      sourceLabel: 'hot_and_still',
      destinationLabel: 'all_clear',
      stateChangeTrigger: { stateFrom: 'TRUE', stateTo: 'FALSE' },
    },
  ],
  taskDefaults: { type: 'reactive' },
} as const

export interface ConsoleHost extends AsyncDisposable {
  /** of the console */
  readonly url: string
  readonly client: Client
  /** the task of boiler-1 */
  readonly task: string
}

const HOUR = 3_600_000
const MINUTE = 60_000

/** A host with three boilers, half a day of readings, and a task on each boiler. */
export async function startConsoleHost(): Promise<ConsoleHost> {
  const port = await freePort()
  const given = { store: 'memory:', port, host: '127.0.0.1', empty: true, rateLimit: 0, allowUrl: ['127.0.0.1'] }
  const composed = await compose(readConfig(given, {}, [...SERVICES.keys()]), { hashCost: 2 })
  await composed.keyPairs.add({ ...PAIR, tenant: 'default' })
  const app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  await app.listen({ port, host: '127.0.0.1' })
  const host = `http://127.0.0.1:${port}`
  const client = createClient({ url: host, credentials: PAIR })
  const task = await fill(client)
  return {
    url: `${host}/console/`,
    client,
    task,
    [Symbol.asyncDispose]: () => app.close(),
  }
}

async function fill({ resources, rules, broker }: Client): Promise<string> {
  await resources.types.create({ id: 'boiler', limit: 95, vendor: 'Calor' })
  await rules.templates.create(OVERHEATING)
  const now = Date.now()
  const ids: string[] = []
  for (const number of [1, 2, 3]) {
    const resource = `boiler-${number}`
    await resources.resources.create({ id: resource, resourceTypeId: 'boiler', ...(number === 1 && { limit: 90 }) })
    const readings = Array.from({ length: 720 }, (_, minute) =>
      reading(now - 12 * HOUR + minute * MINUTE, minute, number),
    )
    await broker.posting.events(resource, readings, { forward: false })
    const { ID } = await rules.tasks.create({ name: `Overheating of ${resource}`, template: 'overheating', resource })
    ids.push(ID)
  }
  await resources.resources.create({ id: 'boiler-4', resourceTypeId: 'boiler' })
  return ids[0] ?? ''
}

function reading(timestamp: number, minute: number, boiler: number) {
  const isHot = (minute + boiler * 40) % 240 < 45
  const temperature = (isHot ? 96 : 70) + Math.round(Math.sin(minute / 9) * 20) / 10
  return { timestamp, temperature, pump: !isHot, pressure: 2 + Math.round(Math.sin(minute / 50) * 50) / 100 }
}

export interface Opened {
  readonly page: Page
  /** what the browser's console and its content security policy reported */
  readonly reports: readonly string[]
  close(): Promise<void>
}

export type Theme = 'light' | 'dark'

export interface Look {
  readonly theme?: Theme
  readonly width?: number
  readonly height?: number
}

export function startBrowser(program: string): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
}

/** Opens the console and logs in. */
export async function openConsole(browser: Browser, url: string, look: Look = {}): Promise<Opened> {
  const { theme = 'light', width = 1280, height = 800 } = look
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const reports: string[] = []
  page.on('console', (message) => {
    // the first request has no session, a broken or outdated draft is rejected, a test may make the host busy, and a test may take the network away
    const isExpected = /40[01]|412|503|ERR_INTERNET_DISCONNECTED/.test(message.text())
    if (message.type() === 'error' && !isExpected) reports.push(message.text())
  })
  page.on('pageerror', (error) => reports.push(error.message))
  await page.goto(url)
  await logIn(page)
  return { page, reports, close: () => context.close() }
}

export async function logIn(page: Page, { key, secret } = PAIR): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByLabel('Secret').fill(secret)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** Returns what axe finds, one line each. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/** Returns elements that are wider than the window, if the page scrolls sideways. */
export function sidewaysOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(`(() => {
    if (document.documentElement.scrollWidth <= innerWidth + 1) return []
    return [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .slice(0, 4).map((one) => one.tagName + '.' + one.getAttribute('class'))
  })()`)
}
