/** The console in a Chromium, on a real host: its flows, its accessibility, its content security policy, markup in names. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMosquitto, startMosquitto } from '../support/mosquitto-broker.ts'
import { root } from '../support/repository.ts'
import { chromium, NO_CHROMIUM } from './support/chromium.ts'
import {
  axeFindings,
  type ConsoleHost,
  logIn,
  type Look,
  openConsole,
  OVERHEATING,
  PAIR,
  sidewaysOf,
  startBrowser,
  startConsoleHost,
} from './support/console-host.ts'
import { MARKUP } from './support/markup.ts'

/** Pictures of each run, and the one of the README when `README_PICTURE` is set. */
const PICTURES = join(root, 'node_modules', '.cache', 'console-pictures')
const README_PICTURE = join(root, 'docs', 'console.png')

const noBrowser = chromium === undefined
let host: ConsoleHost
let browser: Browser

beforeAll(async () => {
  if (chromium === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  host = await startConsoleHost()
  browser = await startBrowser(chromium)
})
afterAll(async () => {
  await browser?.close()
  await host?.[Symbol.asyncDispose]()
})

/** Opens a screen in a context of its own; at the end nothing may have been reported. */
async function withScreen(path: string, work: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
  const { page, reports, close } = await openConsole(browser, host.url, look)
  try {
    await page.getByRole('navigation', { name: 'You are here' }).waitFor()
    await page.goto(host.url + path)
    await work(page)
    expect(reports).toEqual([])
  } finally {
    await close()
  }
}

const send = (temperature: number, pump: boolean) =>
  host.client.broker.posting.events('boiler-1', { temperature, pump })
/** Waits less than a test may take, so that a failure names what did not come. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const node = (page: Page, label: string) => page.getByRole('button', { name: new RegExp(`^${label} `) })

describe.skipIf(noBrowser)('the login', () => {
  it('states what is wrong with a pair, keeps no secret in storage, and ends with the session', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(host.url)
    await logIn(page, { key: PAIR.key, secret: 'wrong' })
    await page.getByRole('alert').getByText('The API key or its secret is wrong').waitFor()
    await logIn(page)
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
    expect(stored).not.toContain(PAIR.secret)
    expect(stored).not.toContain('reflexarc_session')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    await context.close()
  })

  it('takes a one-time link once, and removes its code from the address', async () => {
    const authorization = `Basic ${btoa(`${PAIR.key}:${PAIR.secret}`)}`
    const made = await fetch(new URL('/auth/v1/links', host.url), { method: 'POST', headers: { authorization } })
    const { path } = (await made.json()) as { readonly path: string }
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(new URL(path, host.url).href)
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    expect(page.url()).not.toContain('link')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.goto('about:blank')
    await page.goto(new URL(path, host.url).href)
    await page.getByText('This link was used before or is too old').waitFor()
    await context.close()
  })
})

describe.skipIf(noBrowser)('a task', () => {
  it('moves with each reading, states why, counts down, and shows an earlier instant', async () => {
    await send(70, true)
    await withScreen(`tasks/${host.task}`, async (page) => {
      await node(page, 'hot_and_still')
        .and(page.getByRole('button', { name: /FALSE/ }))
        .waitFor()
      const cold = Date.now()
      await send(97, false)
      await node(page, 'hot_and_still')
        .and(page.getByRole('button', { name: /TRUE/ }))
        .waitFor()
      await soon(() => heading(page).textContent()).toMatch(/^hot_and_still is TRUE.*alarm fired/)
      await page.getByText('because hot_and_still is TRUE').waitFor()
      await page.getByText('Cool-down until').waitFor()
      await soon(() => page.locator('.timer .left').first().textContent()).toMatch(/^59:|^1:00:00/)
      await node(page, 'hot_and_still').click()
      await page.getByText(/hot_and_still is TRUE.*because temperature is Above and pump_runs is False/).waitFor()
      await page.getByText('Computing the states').waitFor({ state: 'detached' })
      await page.screenshot({
        path: process.env['README_PICTURE'] === undefined ? join(PICTURES, 'task.png') : README_PICTURE,
      })

      await page.goto(`${host.url}tasks/${host.task}?at=${cold}&node=hot_and_still`)
      await page.locator('.why-sentence', { hasText: /hot_and_still is FALSE.*because temperature is Below/ }).waitFor()
      expect(await heading(page).textContent()).toMatch(/^At \d\d:\d\d:\d\d: hot_and_still is FALSE/)

      await page.getByLabel('temperature', { exact: true }).fill('99')
      await page.getByLabel('pump', { exact: true }).fill('false')
      await page.getByRole('button', { name: 'Replay with this' }).click()
      await page.getByText(/^1 (?:added|moved);/).waitFor()
      await page.getByText('alarm would have fired').waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.screenshot({ path: join(PICTURES, 'what-if.png') })
      await page.getByRole('heading', { level: 1 }).click()
      await page.keyboard.press('.')
      await soon(() => heading(page).textContent()).toMatch(/^hot_and_still is TRUE/)
    })
  })
})

describe.skipIf(noBrowser)('the alarms', () => {
  it('are triaged by keyboard, with why and undo', async () => {
    const raised = { severity: 'MAJOR', source: { id: 'cold-1' } }
    const first = await host.client.alarms.raise({ ...raised, type: 'door', text: 'cold-1 has an open door' })
    await host.client.alarms.raise({ ...raised, type: 'warm', text: 'cold-1 is at 8.4 °C' })
    await withScreen(`alarms/${first.id}`, async (page) => {
      await page.getByRole('button', { name: 'Acknowledge' }).waitFor()
      await page.keyboard.press('a')
      await page.getByText('The alarm is acknowledged').waitFor()
      expect((await host.client.alarms.get(first.id)).status).toBe('ACKNOWLEDGED')
      await page.keyboard.press('z')
      await soon(async () => (await host.client.alarms.get(first.id)).status).toBe('ACTIVE')
      // the list has followed, and has the alarm before the younger one again
      const rows = async (): Promise<string> => (await page.locator('ul.alarms li').allTextContents()).join('\n')
      await soon(rows).toMatch(/door[^]*unacknowledged[^]*warm/)
      const before = page.url()
      await page.keyboard.press('j')
      await soon(() => page.url()).not.toBe(before)
      await page.keyboard.press('k')
      await soon(() => page.url()).toBe(before)
      await page.keyboard.press('m')
      await page.getByText(`The alarm is assigned to ${PAIR.key}`).waitFor()
      await page.keyboard.press('c')
      await page.keyboard.type('the door is <b>stuck</b>')
      await page.keyboard.press('Enter')
      await page.getByText('The comment is added').waitFor()
      await page.locator('.history').getByText('the door is <b>stuck</b>').first().waitFor()
      await page.keyboard.press('s')
      await page.keyboard.type('the hinge is repaired')
      await page.keyboard.press('Enter')
      await page.getByText('The alarm is shelved until').waitFor()
      await soon(rows).toMatch(/Held back[^]*door[^]*Shelved until/)
      await page.getByText(new RegExp(`Shelved by ${PAIR.key} until .*: the hinge is repaired`)).waitFor()
      await page.keyboard.press('z')
      await soon(async () => (await host.client.alarms.get(first.id)).suppression).toBe('none')
      await page.getByRole('button', { name: 'Acknowledge' }).waitFor()
      await page.keyboard.press('s')
      await page.keyboard.type('again')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Unshelve' }).waitFor()
      const { assignee, snoozeUntil } = await host.client.alarms.get(first.id)
      expect([assignee, Date.parse(snoozeUntil ?? '') > Date.now()]).toEqual([PAIR.key, true])
      expect(await axeFindings(page)).toEqual([])
    })
  })

  it('that are new wait while the pointer is on the list', async () => {
    await withScreen('alarms', async (page) => {
      const list = page.locator('ul.alarms')
      await list.hover()
      await host.client.alarms.raise({
        severity: 'MINOR',
        source: { id: 'cold-2' },
        type: 'late',
        text: 'cold-2 is late',
      })
      await page.getByRole('button', { name: '1 new' }).waitFor()
      expect(await list.getByText('cold-2 is late').count()).toBe(0)
      await page.keyboard.press('n')
      await soon(() => list.getByText('cold-2 is late').count()).toBe(1)
    })
  })
})

describe.skipIf(noBrowser)('the figures of alarms', () => {
  it('list the worst sources, and lead to a rehearsal of their rule', async () => {
    await send(70, true)
    await send(97, false)
    await soon(async () => (await host.client.alarms.list({ source: 'boiler-1' })).total).toBeGreaterThan(0)
    await withScreen('figures', async (page) => {
      await soon(() => heading(page).textContent()).toMatch(/alarms in ten minutes in the last day$/)
      const row = page.getByRole('row', { name: /^boiler-1 / }).first()
      await row.getByRole('button', { name: 'Rehearse' }).click()
      await page.waitForURL(/rehearsal\?task=/)
      expect(new URL(page.url()).searchParams.get('task')).toBe(host.task)
    })
  })
})

describe.skipIf(noBrowser)('on call', () => {
  it('shows contacts and policies, tests a contact, and holds alarms of a resource back', async () => {
    const { notification, maintenance } = host.client
    await notification.contacts.put('ann', { channels: [{ type: 'email', to: ['ann@example.org'] }] })
    await notification.policies.put('night', {
      contacts: ['ann'],
      select: { severities: ['CRITICAL'] },
      after: 'PT5M',
      paused: true,
    })
    await withScreen('on-call', async (page) => {
      await soon(() => heading(page).textContent()).toBe('1 policy notifies contacts')
      await page.getByRole('cell', { name: 'CRITICAL' }).waitFor()
      await page.getByRole('button', { name: 'Test ann' }).click()
      await page.getByText(/^ann: email: .*mail/).waitFor()
      await page.getByLabel('Resource in maintenance').fill('cold-9')
      await page.getByLabel('Reason for the maintenance').fill('the compressor is exchanged')
      await page.getByRole('button', { name: 'Begin now' }).click()
      await page.getByText('Alarms of cold-9 are held back for 2 h').waitFor()
      const { holds } = await host.client.alarms.raise({
        severity: 'MAJOR',
        source: { id: 'cold-9' },
        type: 'warm',
        text: 'cold-9 is warm',
      })
      expect(holds).toMatchObject([{ reason: 'the compressor is exchanged' }])
      await page.getByRole('button', { name: /^End cold-9/ }).click()
      await page.getByText(/^The maintenance cold-9.* is over/).waitFor()
      expect(await maintenance.list()).toEqual([])
      expect(await axeFindings(page)).toEqual([])
    })
    await notification.policies.remove('night')
    await notification.contacts.remove('ann')
  })
})

describe.skipIf(noBrowser)('a rehearsal', () => {
  it('shows coverage first, compares another limit, and saves it as a version of the template', async () => {
    await withScreen('rehearsal?template=overheating&resources=boiler-1,boiler-4', async (page) => {
      await soon(() => heading(page).textContent()).toContain('1 of 2 resources had data.')
      await page.getByRole('button', { name: '100', exact: true }).click()
      await soon(() => heading(page).textContent()).toMatch(/The draft fires 0 times a day; the rule now/)
      await page.getByText(/removed, 0 moved/).waitFor()
      await page.screenshot({ path: join(PICTURES, 'rehearsal.png'), fullPage: true })
      await page.getByRole('button', { name: 'Save to overheating' }).click()
      await page.getByText('Saved as version 2 of overheating').waitFor()
    })
    const { sensors } = (await host.client.rules.templates.get('overheating', 'simplified')) as unknown as {
      readonly sensors: readonly { readonly properties: { readonly threshold?: number } }[]
    }
    expect(sensors[0]?.properties.threshold).toBe(100)
  })
})

describe.skipIf(noBrowser)('the editor', () => {
  it('marks a problem in the graph and the text, fixes it by one key, and saves', async () => {
    await withScreen('editor?template=overheating', async (page) => {
      await page.getByText('This draft can run').waitFor()
      const text = page.getByLabel('JSON of the rule')
      await text.getByText('"False"').first().dblclick()
      await page.keyboard.type('false')
      await page.getByRole('heading', { name: '1 problem stops this draft from running' }).waitFor()
      await page.getByRole('button', { name: /^hot_and_still .*has no state/ }).waitFor()
      await page.screenshot({ path: join(PICTURES, 'editor.png') })
      await page.getByRole('button', { name: 'Change to "False"' }).click()
      await page.getByText('This draft can run').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('heading', { name: '1 problem stops this draft from running' }).waitFor()
      await page.getByRole('button', { name: 'Redo' }).click()
      await page.getByText('This draft can run').waitFor()
      await text
        .getByText(/^(?:90|100)$/)
        .first()
        .dblclick()
      await page.keyboard.type('85')
      await page.getByRole('button', { name: 'Save' }).and(page.locator('[aria-disabled=false]')).click()
      expect(await page.getByText(/Saved as version/).textContent()).toContain('Saved as version')
    })
  })
})

/** Changes the stored template as another user does. */
async function changeTemplate(name: string, change: (rule: Record<string, unknown>) => object): Promise<void> {
  const { templates } = host.client.rules
  const rule = (await templates.get(name, 'simplified')) as unknown as Record<string, unknown>
  const fields = ['name', 'description', 'sensors', 'relations', 'actuators', 'triggers', 'taskDefaults']
  const specification = Object.fromEntries(fields.map((field) => [field, rule[field]]))
  await templates.replace(name, change(specification) as typeof OVERHEATING)
}

const templateOf = async (name: string): Promise<typeof OVERHEATING> =>
  (await host.client.rules.templates.get(name, 'simplified')) as unknown as typeof OVERHEATING

describe.skipIf(noBrowser)('the forms of the editor', () => {
  it('add a node by name, resolve its placeholders, and try the rule on typed values', async () => {
    await send(70, true)
    await host.client.rules.templates.create({ ...OVERHEATING, name: 'formed' })
    await withScreen('editor?template=formed', async (page) => {
      await page.getByText('This draft can run').waitFor()
      await page.getByRole('heading', { level: 1 }).click()
      await page.keyboard.press('/')
      await page.keyboard.type('log')
      await page.getByRole('option', { name: /^log Debug actuator/ }).click()
      await page.getByLabel('Resource').last().selectOption('boiler-1')
      const message = page.getByLabel('message', { exact: false }).first()
      await message.fill('{{RESOURCE}} is at {{GLOBAL.temperature}}')
      await message.blur()
      await page.getByText('Now: boiler-1 is at 70').waitFor()
      await page.getByRole('button', { name: 'Add a trigger' }).click()
      await page.getByLabel('Fires by').waitFor()
      const values = page.getByRole('group', { name: 'Values of the message' })
      await values.getByLabel('temperature').fill('97')
      await values.getByLabel('pump').fill('false')
      await page.getByText('It fires alarm and log').waitFor()
      await node(page, 'hot_and_still')
        .and(page.getByRole('button', { name: /TRUE/ }))
        .waitFor()
      await page.getByText('Now: boiler-1 is at 97').waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.screenshot({ path: join(PICTURES, 'forms.png'), fullPage: true })
      await page.getByRole('button', { name: 'Save' }).and(page.locator('[aria-disabled=false]')).click()
      await page.getByText('Saved as version 2').waitFor()
    })
    const { actuators, triggers } = await templateOf('formed')
    expect(actuators.map(({ label }: { readonly label: string }) => label)).toContain('log')
    expect(triggers.at(-1)).toEqual({
      sourceLabel: 'hot_and_still',
      destinationLabel: 'log',
      statesTrigger: ['TRUE'],
    })
  })

  it('show two changes of one rule side by side, and overwrite neither', async () => {
    await host.client.rules.templates.create({ ...OVERHEATING, name: 'disputed' })
    await withScreen('editor?template=disputed', async (page) => {
      await page.getByText('This draft can run').waitFor()
      await node(page, 'temperature').click()
      const limit = page.getByLabel('threshold', { exact: false }).first()
      await limit.fill('80')
      await limit.blur()
      await changeTemplate('disputed', ({ sensors, ...rest }) => ({
        ...rest,
        description: 'changed by another user',
        sensors: (sensors as (typeof OVERHEATING)['sensors'][number][]).map((sensor) =>
          sensor.label === 'temperature' ? { ...sensor, properties: { ...sensor.properties, threshold: 95 } } : sensor,
        ),
      }))
      await page.getByRole('button', { name: 'Save' }).and(page.locator('[aria-disabled=false]')).click()
      await page.getByRole('heading', { name: 'Changed by two users: 2 differences, 1 in conflict' }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.screenshot({ path: join(PICTURES, 'conflict.png'), fullPage: true })
      const merge = page.getByRole('button', { name: 'Continue with the merge' })
      expect(await merge.getAttribute('aria-disabled')).toBe('true')
      await page.getByRole('button', { name: 'yours' }).click()
      await merge.click()
      await page.getByRole('button', { name: 'Save' }).and(page.locator('[aria-disabled=false]')).click()
      await page.getByText('Saved as version 3').waitFor()
    })
    const { description, sensors } = await templateOf('disputed')
    expect([description, sensors[0].properties.threshold]).toEqual(['changed by another user', 80])
  })

  it('keep a draft through an expired session', async () => {
    await host.client.rules.templates.create({ ...OVERHEATING, name: 'expiring' })
    await withScreen('editor?template=expiring', async (page) => {
      await page.getByText('This draft can run').waitFor()
      await node(page, 'temperature').click()
      const limit = page.getByLabel('threshold', { exact: false }).first()
      await limit.fill('81')
      await limit.blur()
      await page.context().clearCookies()
      await page.getByText('The session has expired').waitFor()
      await logIn(page)
      await page.getByText('This draft can run').waitFor()
      expect(await node(page, 'temperature').textContent()).toContain('limit 81')
    })
  })
})

describe.skipIf(noBrowser)('the shell', () => {
  it('finds things by Ctrl+K, goes to screens by letters, and lists its keys', async () => {
    await withScreen('', async (page) => {
      await heading(page).waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('boiler-2')
      const option = page.getByRole('option', { name: 'boiler-2 boiler', exact: true })
      await option.waitFor()
      await page.keyboard.press('Escape')
      // letters typed before belong to the search
      await option.waitFor({ state: 'detached' })
      // a prefix expires: on a busy machine the next letter can be too late
      await soon(async () => {
        await page.keyboard.press('g')
        await page.keyboard.press('t')
        return page
          .getByRole('heading', { name: /3 tasks/ })
          .waitFor({ timeout: 5_000 })
          .then(() => true)
          .catch(() => false)
      }).toBe(true)
      await page.keyboard.press('?')
      expect(await page.getByRole('dialog', { name: 'Keys' }).textContent()).toContain('go to Alarms')
    })
  })

  it('states a lost connection, and follows again when it is back', async () => {
    await withScreen(`tasks/${host.task}`, async (page) => {
      await node(page, 'temperature').waitFor()
      await page.context().setOffline(true)
      await page.getByRole('alert').getByText('Connection lost').waitFor()
      await page.getByText('Not live since').waitFor()
      await send(62, true)
      await send(61, true)
      await page.context().setOffline(false)
      await page.getByText('Connection lost').waitFor({ state: 'detached' })
      await node(page, 'temperature')
        .and(page.getByRole('button', { name: /61/ }))
        .waitFor()
      await soon(() => page.getByRole('alert').allTextContents()).toEqual([])
      expect(await page.getByText('Not live since').count()).toBe(0)
    })
  })

  it('states that the host is busy while it answers 503, and that one route does', async () => {
    await withScreen('tasks', async (page) => {
      const busy = { status: 503, json: { error: 'The host is starting', code: 'CLOSED' } }
      await page.route(/\/api\/tasks\?/, (route) => route.fulfill(busy))
      await page.getByRole('alert').getByText('The host is starting').waitFor()
      expect(await page.getByText('The host is busy').count()).toBe(0)
      await page.route(/\/(?:api|alarm|health)/, (route) => route.fulfill(busy))
      await page.getByText('The host is busy, starting or stopping').waitFor()
      await page.unrouteAll()
      await page.getByText('The host is busy').waitFor({ state: 'detached' })
      await soon(() => page.getByRole('alert').allTextContents()).toEqual([])
    })
  })

  it('counts down by the clock of the host when that of the browser is 10 minutes off', async () => {
    await withScreen('', async (page) => {
      await page.clock.install({ time: Date.now() + 600_000 })
      await page.goto(`${host.url}tasks`)
      const minute = new Date().toISOString().slice(11, 15)
      await page.locator('.instant').getByText(minute).waitFor()
      expect(await page.locator('.instant').textContent()).toContain(minute)
    })
  })

  it('shows no button that would be rejected to a session that may only read', async () => {
    const authorization = `Basic ${btoa(`${PAIR.key}:${PAIR.secret}`)}`
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify({ scopes: ['read'] })
    const made = await fetch(new URL('/auth/v1/keys', host.url), { method: 'POST', headers, body })
    const pair = (await made.json()) as typeof PAIR
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${host.url}tasks/${host.task}`)
    await logIn(page, pair)
    await page.getByRole('link', { name: 'Rehearse' }).waitFor()
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Edit rule' }).count()).toBe(0)
    await page.goto(`${host.url}operations`)
    await page.getByRole('link', { name: 'Deliveries' }).waitFor()
    for (const name of ['Keys', 'Sessions', 'Audit', 'Secrets'])
      expect(await page.getByRole('link', { name, exact: true }).count()).toBe(0)
    await context.close()
  })

  it('shows a rule of 2,000 nodes in the editor and as a task', async () => {
    const sensors = Array.from({ length: 1_997 }, (_, at) => ({
      label: `level_${at}`,
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: `p${at}`, threshold: 1 },
    }))
    const large = {
      ...OVERHEATING,
      name: 'large',
      sensors: [...OVERHEATING.sensors, ...sensors],
    } as unknown as typeof OVERHEATING
    await host.client.rules.templates.create(large)
    const { ID } = await host.client.rules.tasks.create({ name: 'large', template: 'large', resource: 'boiler-2' })
    try {
      for (const path of ['editor?template=large', `tasks/${ID}`]) {
        await withScreen(path, async (page) => {
          // by text: the accessible names of 2,000 nodes take a while
          const last = page.locator('svg').getByText('level_1996', { exact: true }).first()
          await last.waitFor({ state: 'attached' })
          expect(await last.textContent()).toBe('level_1996')
        })
      }
    } finally {
      await host.client.rules.tasks.remove(ID, { forceStop: true })
    }
  })
})

describe.skipIf(noBrowser)('operations', () => {
  it('list calls that failed, and retry them', async () => {
    const { ID } = await host.client.rules.tasks.create({
      sensors: [
        { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 0 } },
      ],
      actuators: [
        {
          label: 'call',
          name: 'callURL',
          properties: { method: 'GET', url: 'http://127.0.0.1:1/' },
          retryConfig: { maxRetries: 0 },
        },
      ],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'call', statesTrigger: ['Above'] }],
      task: { name: 'calls', type: 'reactive', resource: 'caller' },
    })
    await host.client.broker.posting.events('caller', { a: 1 })
    await soon(async () => (await host.client.rules.inspection.deliveries(ID, { limit: 1 })).values[0]?.status).toBe(
      'dead',
    )
    await withScreen('', async (page) => {
      await page.getByRole('link', { name: /1 call of actuators failed/ }).click()
      await page.getByRole('button', { name: 'Retry' }).click()
      await page.getByText(/^The call failed again: /).waitFor()
      await page.getByRole('button', { name: 'Copy as code' }).waitFor()
      await page.getByText('dead, attempt 2').waitFor()
      expect(await axeFindings(page)).toEqual([])
    })
    await host.client.rules.tasks.remove(ID, { forceStop: true })
  })

  it('list batches among the jobs', async () => {
    const { entity } = await host.client.rules.batches.queue({
      entity: 'task',
      action: 'delete',
      query: { ids: ['x'] },
    })
    await withScreen('operations/jobs', async (page) => {
      const row = page.getByRole('row', { name: `batch ${entity.id.slice(0, 8)}` })
      await row.getByText(entity.operation.description).waitFor()
      await row.getByText('completed').waitFor()
      expect(await axeFindings(page)).toEqual([])
    })
  })

  it('try a converter, with its answer and its log', async () => {
    await host.client.converter.put('gateway', {
      type: 'velocity',
      template: '{"metrics": [{"resource": "tank", "temperature": $payload.temperature}]}',
    })
    await host.client.converter.ingest('gateway', { other: 1 }).catch(() => undefined)
    await withScreen('operations/converters', async (page) => {
      await page.getByRole('link', { name: 'gateway' }).click()
      await page.getByRole('heading', { name: 'Try gateway' }).waitFor()
      const body = page.getByLabel('Body, JSON')
      await body.fill('{ "temperature": ')
      await page.getByText('The body is not valid JSON').waitFor()
      await body.fill('{ "temperature": 42.5 }')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.locator('.answer-text', { hasText: '42.5' }).waitFor()
      await page.getByText('rejected', { exact: true }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.screenshot({ path: join(PICTURES, 'try.png') })
    })
  })
})

describe.skipIf(noBrowser)('a roll-out', () => {
  it('begins as a shadow, lists each difference with its reason, and is promoted and taken back', async () => {
    const { rules, broker } = host.client
    const sensors = [
      { label: 'cold', name: 'hysteresis', resource: '$', properties: { value: 'level', enter: 90, leave: 70 } },
    ] as const
    const tank = (enter: number) => ({
      name: 'tank',
      sensors: sensors.map((one) => ({ ...one, properties: { ...one.properties, enter } })),
      actuators: [{ label: 'note', name: 'log', properties: { message: 'full' } }],
      triggers: [{ sourceLabel: 'cold', destinationLabel: 'note', begins: ['On'] as const }],
      taskDefaults: { type: 'reactive' as const },
    })
    await rules.templates.create(tank(90))
    await rules.templates.replace('tank', tank(80), { draft: true, note: 'earlier' })
    const { ID } = await rules.tasks.create({ name: 'Tank 1', template: 'tank', resource: 'tank-1' })
    const version = async () => (await rules.tasks.get(ID)).templateVersion
    await withScreen('rollouts?template=tank', async (page) => {
      await page.getByText('None yet').waitFor()
      await page.getByLabel('Version').selectOption('2')
      await page.getByRole('button', { name: 'Start' }).click()
      await soon(() => heading(page).textContent()).toMatch(/^The shadow runs, and no version of tank has fired yet/)
      for (const level of [60, 85, 60]) await broker.posting.events('tank-1', { level })
      await soon(() => heading(page).textContent()).toBe('The shadow runs: version 2 of tank differs in 1 firing')
      await page.getByRole('cell', { name: /^cold is On; the other version: / }).waitFor()
      await page.getByRole('button', { name: 'Promote', exact: true }).click()
      await page.getByText('1 task would move. cold loses state, memory in 1 task.').waitFor()
      await page.getByRole('button', { name: 'Promote now' }).click()
      await soon(() => heading(page).textContent()).toContain('The shadow is promoted')
      expect(await version()).toBe(2)
      await page.getByRole('button', { name: 'Roll back' }).click()
      await page.getByRole('button', { name: 'Do it now' }).click()
      await soon(() => heading(page).textContent()).toContain('The shadow is rolled back')
      expect(await version()).toBe(1)
    })
  })
})

const SCREENS = [
  ['overview', ''],
  ['alarms', 'alarms'],
  ['figures', 'figures?range=week'],
  ['on call', 'on-call'],
  ['tasks', 'tasks'],
  ['task', 'tasks/TASK'],
  ['resources', 'resources'],
  ['resource', 'resources/boiler-1'],
  ['data', 'data?resource=boiler-1&metric=temperature'],
  ['rehearsal', 'rehearsal?task=TASK'],
  ['editor', 'editor?template=overheating'],
  ['rollouts', 'rollouts?template=overheating'],
  ['operations', 'operations'],
  ['keys', 'operations/keys'],
  ['connectors', 'connectors'],
] as const

const LOOKS = [
  { themes: ['light', 'dark'], width: 1280, height: 800 },
  { themes: ['dark', 'light'], width: 360, height: 740 },
] as const

const mosquitto = findMosquitto()

describe.skipIf(noBrowser || typeof mosquitto === 'string')('connectors', () => {
  it('show lag and errors, are paused, resumed and tested, and rejected records are tried again', async () => {
    if (typeof mosquitto === 'string') return
    const broker = await startMosquitto(mosquitto)
    const { sources } = host.client.connectors
    const document = { type: 'mqtt', connection: { url: broker.url }, topics: ['plant/+'] }
    await sources.put('plant', { ...document, map: { resource: '/from' } })
    await sources.put('away', { ...document, connection: { url: 'mqtt://127.0.0.1:1' } })
    await soon(async () => (await sources.get('plant')).status.state).toBe('running')
    const publisher = await connectAsync(broker.url)
    await publisher.publishAsync('plant/boiler-9', '{"temperature":71}', { qos: 1 })
    await publisher.endAsync()
    await soon(async () => (await sources.get('plant')).status.rejected).toBe(1)
    await withScreen('operations', async (page) => {
      await page.getByRole('link', { name: 'Connectors' }).click()
      await heading(page).getByText('1 connector fails').waitFor()
      await page.getByRole('link', { name: 'away' }).click()
      const details = page.getByRole('complementary')
      await details.getByText(/ECONNREFUSED/).waitFor()
      await details.getByRole('button', { name: 'Test' }).click()
      await details
        .getByRole('status')
        .getByText(/ECONNREFUSED/)
        .waitFor()
      await details.getByRole('button', { name: 'Pause' }).click()
      await details.getByRole('button', { name: 'Resume' }).waitFor()
      await details.getByRole('button', { name: 'Resume' }).click()
      await details.getByRole('button', { name: 'Pause' }).waitFor()
      await page.getByRole('link', { name: 'plant' }).click()
      await details.getByText('the record has no resource at /from').waitFor()
      await details.getByRole('button', { name: 'Test' }).click()
      await details.getByText('The broker accepts the connection').waitFor()
      await sources.put('plant', { ...document, map: { resource: 'topic/1' } })
      await details.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('status').getByText('1 record accepted').waitFor()
      await details.getByText('the record has no resource at /from').waitFor({ state: 'detached' })
    })
    expect(await host.client.broker.messages.current('boiler-9')).toMatchObject({ temperature: 71 })
    await sources.remove('plant')
    await sources.remove('away')
    await broker.stop()
  })
})

describe.skipIf(noBrowser)('each screen', () => {
  it.each(SCREENS)(
    '%s has nothing that axe finds, in both themes and on a phone, and never scrolls sideways',
    async (name, path) => {
      for (const look of LOOKS) {
        await withScreen(
          path.replace('TASK', host.task),
          async (page) => {
            await heading(page).waitFor()
            await page.waitForLoadState('load')
            await page.locator('.panel').first().waitFor()
            const device = look.width < 500 ? '-phone' : ''
            for (const colorScheme of look.themes) {
              await page.emulateMedia({ colorScheme })
              expect(await axeFindings(page)).toEqual([])
              await page.screenshot({ path: join(PICTURES, `${name}${device}-${colorScheme}.png`) })
            }
            expect(await sidewaysOf(page)).toEqual([])
          },
          look,
        )
      }
    },
  )
})

describe.skipIf(noBrowser)('markup in names', () => {
  it('is text on every screen', async () => {
    const { alarms, rules, resources } = host.client
    for (const [at, markup] of MARKUP.entries()) {
      await alarms.raise({
        type: `${at} ${markup}`,
        severity: 'MINOR',
        text: markup,
        source: { id: `source-${at % 3}` },
      })
    }
    for (const markup of MARKUP.slice(0, 20)) {
      const { ID } = await rules.tasks.create({ name: markup, template: 'overheating', resource: 'boiler-3' })
      expect(ID).not.toBe('')
    }
    await resources.resources.create({
      id: 'marked',
      name: MARKUP[0] ?? '',
      ...Object.fromEntries(MARKUP.map((markup, at) => [`a${at}`, markup])),
    })
    await rules.templates.create({ ...OVERHEATING, name: 'marked', description: MARKUP.join(' ') })
    await host.client.broker.posting.events('marked', { temperature: 1, text: MARKUP[0] ?? '' })
    const { values } = await rules.tasks.list(
      { where: { resource: 'boiler-3' }, hits: 1, startIndex: 0 },
      { format: 'simplified' },
    )
    const paths = ['', 'alarms', 'tasks', 'resources/marked', 'resources', 'rehearsal', 'rehearsal?template=marked']
    const more = [`tasks/${values[0]?.ID}`, 'editor?template=marked', 'data?resource=marked', 'operations']
    for (const path of [...paths, ...more]) {
      await withScreen(path, async (page) => {
        await heading(page).waitFor()
        await page.locator('.panel').first().waitFor()
        expect(
          await page.evaluate(
            `'hit' in window || document.querySelector('main img, main script, main iframe') !== null`,
          ),
        ).toBe(false)
      })
    }
  })
})

it.runIf(noBrowser)('needs a Chromium', ({ skip }) => {
  expect(chromium).toBeUndefined()
  skip(NO_CHROMIUM)
})
