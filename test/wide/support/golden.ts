/** Screens with fixed data at a fixed time, and their comparison with stored pictures. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { root } from '../../support/repository.ts'

const FOLDER = join(root, 'test', 'wide', 'golden')
const NOW = Date.parse('2026-01-15T18:30:00Z')
const MINUTE = 60_000
const iso = (minutesAgo: number): string => new Date(NOW - minutesAgo * MINUTE).toISOString()

const alarm = (id: string, severity: string, text: string, minutesAgo: number, more: object = {}) => ({
  id,
  severity,
  text,
  type: 'overheating',
  status: 'ACTIVE',
  source: { id: text.split(' ')[0] },
  count: 1,
  revision: 1,
  creationTime: iso(minutesAgo),
  lastTriggeredTime: iso(minutesAgo),
  timestamp: iso(minutesAgo),
  history: [{ id: '1', type: 'AlarmRaised', text: 'Alarm raised', timestamp: iso(minutesAgo) }],
  ...more,
})
const ALARMS = [
  alarm('a1', 'CRITICAL', 'boiler-1 is at 98.2 °C and its pump stands still', 65, { count: 2 }),
  alarm('a2', 'MAJOR', 'cold-1 is at 8.4 °C with its door closed', 26),
  alarm('a3', 'MAJOR', 'cold-2 has an open door', 14, { status: 'ACKNOWLEDGED', assignee: 'anna' }),
  alarm('a4', 'MINOR', 'boiler-6 starts its burner too often', 120, { snoozeUntil: iso(-90) }),
]

const node = (label: string, kind: string, state: string | null, rawData?: object) => ({
  node: label,
  kind,
  mostLikelyState: state === null ? null : { state, probability: 1 },
  collectedTime: NOW - 2_000,
  ...(rawData && { rawData }),
})
const TASK = {
  ID: 't1',
  name: 'Overheating of boiler-1',
  status: 'running',
  type: 'reactive',
  resource: 'boiler-1',
  template: 'overheating',
  templateVersion: 3,
  invocationCount: 1_440,
  lastExecutionTime: NOW - 2_000,
  revision: 1,
  network: {
    sensors: [
      { label: 'temperature', name: 'streamingDataSensor', properties: { parameter: 'temperature', threshold: 90 } },
      { label: 'pump_runs', name: 'condition', properties: { condition: 'pump == true' } },
    ],
    relations: [
      {
        label: 'hot_and_still',
        type: 'AND',
        parentLabels: ['temperature', 'pump_runs'],
        combinations: [['Above', 'False']],
      },
    ],
    actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'overheating' } }],
    triggers: [
      { sourceLabel: 'hot_and_still', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 3_600 },
    ],
  },
}
const changed = (label: string, type: string, to: string, minutesAgo: number) => ({
  type,
  node: label,
  to,
  time: NOW - minutesAgo * MINUTE,
})
const WHY = {
  sentence: 'hot_and_still is TRUE since 2026-01-15T18:10:00Z, because temperature is Above and pump_runs is False.',
  chain: [
    { kind: 'sensor', node: 'temperature', text: 'temperature is Above' },
    { kind: 'sensor', node: 'pump_runs', text: 'pump_runs is False' },
    { kind: 'gate', node: 'hot_and_still', text: 'hot_and_still is TRUE: AND of temperature Above, pump_runs False' },
  ],
  whyNot: [],
  notes: [],
}

/** Answers by method and path; the first match counts. */
const ANSWERS: readonly (readonly [path: RegExp, body: object])[] = [
  [
    /auth\/v1\/session$/,
    { user: 'anna', tenant: 'default', scopes: ['admin'], csrf: 'c', expires: new Date(NOW + 3_600_000).toISOString() },
  ],
  [/alarm\/alarms\/\w+\/why$/, { cause: null, raisedBy: 'anna', explanation: null }],
  [
    /alarm\/alarms\/\w+\/comments$/,
    { total: 1, comments: [{ id: 'c1', time: iso(12), user: 'anna', text: 'The pump is on its way' }] },
  ],
  [/alarm\/types$/, { types: [{ type: 'overheating', texts: { action: 'Start the spare pump within 15 minutes' } }] }],
  [/alarm\/alarms\/(\w+)/, ALARMS[0] ?? {}],
  [/alarm\/alarms/, { total: ALARMS.length, page: 0, size: 500, alarms: ALARMS }],
  [
    /tasks\/t1\/state/,
    {
      at: NOW,
      position: 9,
      isRunning: true,
      keptSince: NOW - 60 * MINUTE,
      timers: [],
      nodes: [
        node('temperature', 'sensor', 'Above', { data: 98.2 }),
        node('pump_runs', 'sensor', 'False'),
        node('hot_and_still', 'gate', 'TRUE'),
        { ...node('alarm', 'actuator', null), collectedTime: NOW - 20 * MINUTE },
      ],
    },
  ],
  [/tasks\/t1\/explain/, { node: 'hot_and_still', kind: 'gate', text: WHY }],
  [/tasks\/t1\/deliveries/, { values: [] }],
  [/tasks\/t1/, TASK],
  [
    /rehearsals/,
    {
      status: 'done',
      coverage: { until: NOW },
      events: [
        changed('temperature', 'state', 'Below', 59),
        changed('pump_runs', 'state', 'True', 59),
        changed('hot_and_still', 'gate', 'FALSE', 59),
        changed('pump_runs', 'state', 'False', 30),
        changed('temperature', 'state', 'Above', 20),
        changed('hot_and_still', 'gate', 'TRUE', 20),
      ],
    },
  ],
  [
    /series\/temperature/,
    {
      series: Array.from({ length: 61 }, (_, at) => [
        NOW - (60 - at) * MINUTE,
        at < 40 ? 71 + (at % 5) : 71 + (at - 39) * 1.3,
      ]),
    },
  ],
  [
    /resources\/boiler-1\/explain/,
    [{ attribute: 'metrics', value: [{ name: 'temperature', unit: '°C' }], from: 'type', id: 'boiler' }],
  ],
]

/** Answers all requests of the page with fixed data, stops its clock, and returns requests that have no answer. */
export async function fixPage(page: Page): Promise<readonly string[]> {
  const unknown: string[] = []
  await page.clock.setFixedTime(NOW)
  const headers = { date: new Date(NOW).toUTCString() }
  await page.route(/\/(?:api|alarm|auth|resources|health)(?:\/|$)/, async (route: Route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname.startsWith('/console')) return route.continue()
    // streams stay open
    if (pathname.endsWith('/events')) return undefined
    const [, body] = ANSWERS.find(([path]) => path.test(pathname)) ?? []
    if (body === undefined) unknown.push(pathname)
    return route.fulfill({ headers, json: body ?? {}, status: body === undefined ? 404 : 200 })
  })
  return unknown
}

export const GOLDEN_SCREENS = [
  ['alarms', 'alarms/a1'],
  ['task', 'tasks/t1?node=hot_and_still'],
] as const

/** Side of the squares that are compared by their mean colour, so that the rounding of edges does not count */
const SQUARE = 8

/**
 * Compares the page with its stored picture, and returns the share of squares that differ visibly. Without a stored
 * picture, or with `GOLDEN=write`, stores it.
 */
export async function differenceOf(page: Page, name: string): Promise<number> {
  const file = join(FOLDER, `${name}.png`)
  const shown = await page.screenshot()
  if (!existsSync(file) || process.env['GOLDEN'] === 'write') writeFileSync(file, shown)
  const blank = await page.context().newPage()
  const share = await blank.evaluate(
    `(async () => {
      const small = async (data) => {
        const picture = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob())
        const width = Math.ceil(picture.width / ${SQUARE}), height = Math.ceil(picture.height / ${SQUARE})
        const context = new OffscreenCanvas(width, height).getContext('2d')
        context.imageSmoothingQuality = 'high'
        context.drawImage(picture, 0, 0, width, height)
        return context.getImageData(0, 0, width, height).data
      }
      const [a, b] = [await small('${shown.toString('base64')}'), await small('${readFileSync(file).toString('base64')}')]
      if (a.length !== b.length) return 1
      let differing = 0
      for (let at = 0; at < a.length; at += 4)
        if (Math.max(...[0, 1, 2].map((one) => Math.abs(a[at + one] - b[at + one]))) > 48) differing++
      return differing / (a.length / 4)
    })()`,
  )
  await blank.close()
  return Number(share)
}
