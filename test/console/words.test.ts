/** The sentences of the console, as functions of what it shows. */
import type { NodeState } from '../../src/console/graph/node-states.ts'
import { describe, expect, it } from 'vitest'
import { unitsOf } from '../../src/console/words/units.ts'
import { readRule } from '../../src/console/graph/rule-view.ts'
import { notificationText, onCallAnswer, recipientsText, selectionText } from '../../src/console/words/on-call.ts'
import {
  alarmsAnswer,
  alarmStateText,
  bySeverity,
  countBySlot,
  figuresAnswer,
  historyLine,
  holdOf,
  holdText,
  whySentence,
} from '../../src/console/words/alarms.ts'
import { codeText, curlText } from '../../src/console/words/curl.ts'
import { dataAnswer, queryOf, seriesOf } from '../../src/console/words/data.ts'
import { editorAnswer, fixText, nodeOf, problemText } from '../../src/console/words/editor.ts'
import { countText, cut, listText, valueText } from '../../src/console/words/numbers.ts'
import { overviewAnswer } from '../../src/console/words/overview.ts'
import {
  loadText,
  knobName,
  knobsOf,
  perDayText,
  rehearsalAnswer,
  suggestionsOf,
  turned,
  valuesAround,
} from '../../src/console/words/rehearsal.ts'
import { resourceAnswer, treeOf } from '../../src/console/words/resource.ts'
import { conditionText, propertyText } from '../../src/console/words/rules.ts'
import { differenceText, healthText, localTimes, replayAnswer, taskAnswer } from '../../src/console/words/task.ts'
import { countdownText, isZone, lengthText, timeText } from '../../src/console/words/times.ts'

const NOON = Date.parse('2026-01-15T12:00:00Z')
const MINUTE = 60_000

describe('times', () => {
  it.each([
    [400, '0 s'],
    [59_400, '59 s'],
    [5 * MINUTE, '5 min'],
    [65 * MINUTE, '1 h 5 min'],
    [50 * 60 * MINUTE, '2 d 2 h'],
    [-5, '0 s'],
  ])('%i ms last %s', (ms, text) => {
    expect(lengthText(ms)).toBe(text)
  })

  it.each([
    [5_000, '0:05'],
    [65_000, '1:05'],
    [3_723_000, '1:02:03'],
    [50 * 60 * MINUTE, '2 d 2 h'],
  ])('%i ms are left as %s', (ms, text) => {
    expect(countdownText(ms)).toBe(text)
  })

  it('are in the zone, and have a day only when it is another one', () => {
    expect(timeText(NOON, 'UTC', NOON)).toBe('12:00')
    expect(timeText(NOON, 'Europe/Brussels', NOON, true)).toBe('13:00:00')
    expect(timeText(NOON - 24 * 60 * MINUTE, 'UTC', NOON)).toBe('14 Jan 12:00')
    expect(timeText(Date.parse('2024-12-31T23:30:00Z'), 'UTC', NOON)).toBe('31 Dec 2024 23:30')
    expect(localTimes('fired at 2026-01-15T11:59:58.000Z.', 'UTC', NOON)).toBe('fired at 11:59:58.')
    expect([isZone('Europe/Brussels'), isZone('Mars/Base')]).toEqual([true, false])
  })
})

describe('numbers and values', () => {
  it.each([
    [90, '90'],
    [1440, '1,440'],
    [97.55386819484238, '97.55'],
    [true, 'true'],
    ['roof', 'roof'],
    [{ a: 1 }, '{"a":1}'],
    [undefined, ''],
  ])('%o is written as %s', (value, text) => {
    expect(valueText(value)).toBe(text)
  })

  it('are counted and joined as people do', () => {
    expect([countText(1, 'alarm'), countText(2_000, 'alarm')]).toEqual(['1 alarm', '2,000 alarms'])
    expect([listText([]), listText(['a']), listText(['a', 'b', 'c'])]).toEqual(['', 'a', 'a, b and c'])
    expect(cut('temperature', 5)).toBe('temp…')
  })
})

const RULE = readRule({
  sensors: [
    { label: 'temperature', name: 'streamingDataSensor', properties: { parameter: 'temperature', threshold: 90 } },
    { label: 'pump', name: 'condition', properties: { condition: { '==': [{ var: 'pump' }, true] } } },
  ],
  relations: [{ label: 'hot', type: 'AND', parentLabels: ['temperature', 'pump'], combinations: [['Above', 'False']] }],
  actuators: [{ label: 'alarm', name: 'createAlarm' }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 3600 }],
})

describe('a rule', () => {
  it('is read from JSON of any shape, without what is wrong', () => {
    expect(RULE.nodes.map(({ label, kind }) => `${label} ${kind}`)).toEqual([
      'temperature sensor',
      'pump sensor',
      'hot gate',
      'alarm actuator',
    ])
    for (const broken of [null, 3, 'rule', [], { sensors: 3 }, { sensors: [null, { label: 3 }], triggers: {} }]) {
      expect(readRule(broken)).toEqual({ nodes: [], triggers: [] })
    }
  })

  it('has nodes and triggers in words', () => {
    expect(RULE.nodes.slice(0, 2).map((node) => propertyText(node))).toEqual(['limit 90', 'pump == true'])
    expect(RULE.triggers.map(conditionText)).toEqual(['while TRUE, once in 1 h'])
    const bare = { source: 'a', destination: 'b', states: [], change: undefined, begins: [], ends: [], coolDown: 0 }
    expect(conditionText(bare)).toBe('after each run')
    expect(conditionText({ ...bare, change: { from: 'TRUE', to: 'FALSE' } })).toBe('on TRUE to FALSE')
    expect(conditionText({ ...bare, begins: ['High'], ends: ['Low'] })).toBe('on entering High, on leaving Low')
  })
})

describe('the response of a task', () => {
  const hot = { state: 'TRUE', since: NOON - 65 * MINUTE }
  it.each([
    ['running', [], 'No reading has arrived, so nothing is decided.'],
    ['running', [['temperature', { state: 'Above' }]], 'hot cannot be decided yet.'],
    ['running', [['hot', hot]], 'hot is TRUE for 1 h 5 min. Nothing has fired.'],
    ['running', [['hot', { ...hot, isLonger: true }]], 'hot is TRUE for over 1 h 5 min. Nothing has fired.'],
    [
      'running',
      [
        ['hot', hot],
        ['alarm', { state: null, firedAt: NOON - 5 * MINUTE }],
      ],
      'hot is TRUE for 1 h 5 min. alarm fired 5 min ago.',
    ],
    [
      'running',
      [
        ['hot', hot],
        ['alarm', { state: null, isCalling: true }],
      ],
      'hot is TRUE for 1 h 5 min. alarm has fired, and its call is in progress.',
    ],
    ['stopped', [['hot', hot]], 'The task is stopped and decides nothing'],
    ['failed', [], 'The task has failed and decides nothing'],
  ] as const)('%s, %j: %s', (status, states, text) => {
    expect(taskAnswer({ status, rule: RULE, states: new Map<string, NodeState>(states), instant: NOON })).toBe(text)
  })

  it.each([
    [{ equal: 0, added: 0, removed: 0, moved: 0 }, 'Nothing would have fired then either'],
    [{ equal: 2, added: 0, removed: 0, moved: 0 }, 'The same 2 firings, no other'],
    [{ equal: 1, added: 2, removed: 1, moved: 0 }, '2 added and 1 removed; 1 firing as before'],
  ])('states what a replay changes: %j', (counts, text) => {
    expect(replayAnswer(counts)).toBe(text)
  })

  it('states each difference of a replay', () => {
    const row = { node: 'alarm', time: NOON }
    expect(differenceText({ ...row, kind: 'added' }, 'UTC', NOON)).toBe('alarm would have fired')
    expect(differenceText({ ...row, kind: 'removed' }, 'UTC', NOON)).toBe('alarm would not have fired')
    expect(differenceText({ ...row, kind: 'moved', by: -5_000 }, 'UTC', NOON)).toBe(
      'alarm would have fired at 11:59:55, 5 s earlier',
    )
  })

  it('says what is not well', () => {
    expect(healthText({})).toBeUndefined()
    expect(healthText({ errorsCount: 1, dropped: 2, waiting: { inputs: 300 } })).toBe(
      '300 inputs wait, 2 inputs dropped, 1 error in the last 64 runs',
    )
  })
})

const alarm = (severity: string, status: string, creationTime = '2026-01-15T12:00:00Z') => ({
  id: severity + creationTime,
  severity,
  status,
  creationTime,
  lastTriggeredTime: creationTime,
})

describe('alarms', () => {
  it.each([
    [[], 'No alarm is active'],
    [[alarm('MAJOR', 'ACKNOWLEDGED')], 'No alarm needs action; 1 is acknowledged or shelved'],
    [
      [{ ...alarm('MAJOR', 'ACTIVE'), snoozeUntil: '2026-01-16T00:00:00Z' }],
      'No alarm needs action; 1 is acknowledged or shelved',
    ],
    [[{ ...alarm('MAJOR', 'ACTIVE'), snoozeUntil: '2026-01-14T00:00:00Z' }], '1 alarm needs action'],
    [[alarm('MAJOR', 'ACTIVE')], '1 alarm needs action'],
    [[alarm('CRITICAL', 'ACTIVE')], '1 alarm needs action, critical'],
    [[alarm('CRITICAL', 'ACTIVE'), alarm('MINOR', 'ACTIVE')], '2 alarms need action, one of them critical'],
  ])('%#: %s', (open, text) => {
    expect(alarmsAnswer(open, NOON)).toBe(text)
  })

  it.each([
    ['ACTIVE', undefined, 'Active, unacknowledged'],
    ['ACTIVE', 'returned', 'Returned, unacknowledged'],
    ['ACKNOWLEDGED', 'acknowledged', 'Active, acknowledged'],
    ['CLEARED', 'normal', 'Cleared'],
  ])('in status %s and state %s are shown as: %s', (status, lifecycle, text) => {
    expect(alarmStateText({ status, ...(lifecycle !== undefined && { lifecycle }) })).toBe(text)
  })

  it('are held back by what lasts longest', () => {
    const shelf = { suppression: 'shelved', by: 'ann', until: '2026-01-15T13:00:00Z', reason: 'valve' }
    const over = { suppression: 'outOfService', by: 'window/a', until: '2026-01-15T11:00:00Z' }
    const endless = { suppression: 'suppressed', by: 'parent/p' }
    const held = (...holds: object[]) => holdOf({ ...alarm('MAJOR', 'ACTIVE'), holds } as never, NOON)
    expect([held(over), held(over, shelf), held(shelf, endless)]).toEqual([undefined, shelf, endless])
    expect([holdText(shelf, '13:00'), holdText(over, '11:00'), holdText(endless, undefined)]).toEqual([
      'Shelved until 13:00',
      'Out of service until 11:00',
      'Suppressed',
    ])
  })

  it.each([
    [0.21, 0, 'Operators can cope: 0.21 alarms in ten minutes in the last day'],
    [0.21, 2, '2 floods, and 0.21 alarms in ten minutes in the last day'],
    [3, 0, 'More alarms than an operator copes with: 3 alarms in ten minutes in the last day'],
    [12.4, 1, 'Too many alarms: 12 alarms in ten minutes in the last day'],
  ])('at %d in ten minutes, with %i floods: %s', (perTenMinutes, count, text) => {
    expect(figuresAnswer({ perTenMinutes, flood: { count } }, 'day')).toBe(text)
  })

  it('stand by severity, then age', () => {
    const list = [
      alarm('MINOR', 'ACTIVE'),
      alarm('CRITICAL', 'ACTIVE'),
      alarm('MINOR', 'ACTIVE', '2026-01-14T12:00:00Z'),
    ]
    expect(list.sort(bySeverity).map(({ id }) => id)).toEqual([
      'CRITICAL2026-01-15T12:00:00Z',
      'MINOR2026-01-14T12:00:00Z',
      'MINOR2026-01-15T12:00:00Z',
    ])
  })

  it('have a history and a cause in words, and a rate', () => {
    expect(historyLine('Alarm raised', 'x.AlarmRaised')).toBe('Alarm raised')
    const changes = [{ attribute: 'status', oldValue: 'ACTIVE', newValue: 'ACKNOWLEDGED' }]
    expect(historyLine('', 'io.AlarmUpdated', changes)).toBe('Changed: status ACTIVE → ACKNOWLEDGED')
    const sensors = [{ node: 'temperature', state: 'Above' }]
    expect(whySentence({ sensors, gates: [] })).toBe('temperature is Above.')
    expect(whySentence({ sensors, gates: [{ node: 'hot', state: 'TRUE' }] })).toBe(
      'temperature is Above, so hot is TRUE.',
    )
    expect(countBySlot([NOON, NOON - 1, NOON - 11 * MINUTE, NOON - 99 * MINUTE], NOON, 10 * MINUTE, 3)).toEqual([
      0, 1, 2,
    ])
  })
})

describe('the answers of other screens', () => {
  it('name what needs a person', () => {
    expect(overviewAnswer(0, 0, 0)).toBe('Nothing needs action')
    expect(overviewAnswer(1, 2, 0)).toBe('1 alarm needs action and 2 tasks need a look')
    expect(overviewAnswer(0, 0, 1)).toBe('1 call of an actuator has failed')
  })

  it('state how a resource is', () => {
    const latest = [{ metric: 'temperature', value: 97.5, time: NOON }]
    const facts = { id: 'boiler-1', latest, alarms: 0, now: NOON }
    expect(resourceAnswer(facts)).toBe('boiler-1 sends temperature 97.5')
    const units = unitsOf([{ name: 'temperature', unit: '°C' }, { name: 'pump' }, null])
    expect(resourceAnswer({ ...facts, units })).toBe('boiler-1 sends temperature 97.5 °C')
    expect(unitsOf('temperature')).toEqual(new Map())
    expect(resourceAnswer({ ...facts, alarms: 2 })).toBe('boiler-1 sends temperature 97.5, and has 2 active alarms')
    expect(resourceAnswer({ ...facts, now: NOON + 60 * MINUTE })).toBe('boiler-1 has been silent for 1 h')
    expect(resourceAnswer({ ...facts, latest: [] })).toBe('boiler-1 has sent nothing')
  })

  it('state coverage before firings', () => {
    const facts = { matched: 40, withData: 2, firingsNow: 6, firingsDraft: undefined, days: 2 }
    expect(rehearsalAnswer(facts)).toBe('2 of 40 resources had data. The rule fires 3 times a day.')
    expect(rehearsalAnswer({ ...facts, withData: 0 })).toBe('None of 40 resources had data, so nothing can be said')
    expect(rehearsalAnswer({ ...facts, matched: 1, withData: 1, firingsDraft: 2 })).toBe(
      'The resource had data. The draft fires 1 time a day; the rule now 3 times a day.',
    )
    expect(rehearsalAnswer({ ...facts, withData: 40, firingsDraft: 6 })).toBe(
      'All 40 resources had data. The draft fires 3 times a day, as the rule does now.',
    )
    expect([perDayText(0, 1), perDayText(1, 4), perDayText(2_400, 1)]).toEqual([
      '0 times a day',
      '0.25 times a day',
      '2,400 times a day',
    ])
  })

  it('state whether a draft can run', () => {
    const problem = { path: '/relations/0/combinations/0/1', message: 'pump has no state "false"', severity: 'ERROR' }
    expect(editorAnswer(undefined, 'Unexpected token')).toBe('The text is not JSON yet')
    expect(editorAnswer([problem], undefined)).toBe('1 problem stops this draft from running')
    expect(editorAnswer([{ ...problem, severity: 'WARNING' }], undefined)).toBe('This draft can run, with 1 warning')
    expect(editorAnswer([], undefined)).toBe('This draft can run')
    expect(problemText({ ...problem, suggestion: 'did you mean "False"?' })).toBe(
      'pump has no state "false": did you mean "False"?',
    )
    expect(nodeOf(problem.path, { relations: [{ label: 'hot' }] })).toBe('hot')
    expect(nodeOf('/name', {})).toBeUndefined()
    expect(fixText({ op: 'replace', path: '/a', value: 'False' })).toBe('Change to "False"')
  })

  it('state what was measured, with its gaps', () => {
    const form = { resources: ['a'], metrics: ['t'], aggregation: 'mean', freq: 'PT1H', from: '-P1D' }
    expect(queryOf(form)).toMatchObject({ freq: 'PT1H', data: [{ resource: 'a', metric: 't', aggregation: 'mean' }] })
    expect(queryOf({ ...form, freq: '' })).toEqual({
      from: '-P1D',
      until: 'PT0S',
      data: [{ resource: 'a', metric: 't' }],
    })
    const series = seriesOf(
      ['timestamp', 'a/t/mean'],
      [
        [1, 70],
        [2, null],
        [3, null],
        [4, 71],
        [5, 72],
      ],
    )
    const points = [
      [1, 70],
      [4, 71],
      [5, 72],
    ]
    expect(series).toEqual([{ name: 'a/t/mean', points, empty: 2, gaps: [{ from: 1, until: 4 }] }])
    expect(dataAnswer(series, 5)).toBe('1 series of 5 rows, with gaps')
    expect(dataAnswer([], 0)).toBe('What was measured, and where are gaps?')
  })
})

describe('what a slider can move', () => {
  const rule = {
    sensors: [{ label: 'hot', properties: { parameter: 't', threshold: 90 } }],
    triggers: [{ destinationLabel: 'alarm', invocationPolicy: 3600 }],
  }
  it('is each number of a node, and each cool-down', () => {
    expect(knobsOf(rule)).toEqual([
      { path: 'hot.threshold', value: 90 },
      { path: '/triggers/0/invocationPolicy', value: 3600 },
    ])
    expect(knobsOf(rule).map(({ path }) => knobName(path, rule))).toEqual([
      'threshold of hot',
      'cool-down of alarm, in seconds',
    ])
    expect(turned(rule, 'hot.threshold', 95)).toMatchObject({
      sensors: [{ properties: { parameter: 't', threshold: 95 } }],
    })
    expect(turned(rule, '/triggers/0/invocationPolicy', 60)).toMatchObject({ triggers: [{ invocationPolicy: 60 }] })
  })

  it.each([90, 3600, 0.2, -40, 0])('are round values around %d, with that value', (value) => {
    const values = valuesAround(value)
    expect(values).toContain(value)
    expect(values.length).toBeGreaterThan(9)
    expect(values.length).toBeLessThan(32)
    expect(values.toSorted((a, b) => a - b)).toEqual(values)
    expect(valuesAround(value, 1.23)).toContain(1.23)
  })
})

it('a request as curl asks for the secret', () => {
  expect(codeText('http://h/api', 'POST', { a: "it's" })).toBe(`const answer = await fetch("http://h/api", {
  method: "POST",
  headers: {
    authorization: \`Basic \${btoa(\`\${process.env.REFLEXARC_KEY}:\${process.env.REFLEXARC_SECRET}\`)}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    "a": "it's"
  }),
})
console.log(answer.status, await answer.json())
`)
  expect(curlText('http://h/api', 'GET')).toBe('curl -u KEY http://h/api')
  expect(curlText('http://h/api', 'POST', { a: "it's" })).toBe(
    String.raw`curl -u KEY -X POST http://h/api -H 'content-type: application/json' -d '{"a":"it'\''s"}'`,
  )
})

it('shows resources below their parents, once each', () => {
  const all = [
    { id: 'pump', parentId: 'hall' },
    { id: 'hall', parentId: 'site' },
    { id: 'door', parentId: 'elsewhere' },
    { id: 'site' },
    { id: 'valve', parentId: 'pump' },
    { id: 'fan', parentId: 'hall' },
  ]
  expect(treeOf(all).map(({ one, depth }) => `${depth} ${one.id}`)).toEqual([
    '0 door',
    '0 site',
    '1 hall',
    '2 pump',
    '3 valve',
    '2 fan',
  ])
})

describe('what can be rehearsed at once', () => {
  const task = (ID: string, template: string | null, resource: string | null) => ({
    ID,
    name: `task ${ID}`,
    template,
    resource,
  })

  it('is each template with the resources of its tasks, then tasks without a template', () => {
    const tasks = [
      task('1', null, 'd'),
      task('2', 'hot', 'b'),
      task('3', 'hot', 'a'),
      task('4', 'hot', 'a'),
      task('5', 'hot', null),
    ]
    expect(suggestionsOf(tasks)).toEqual([
      { kind: 'template', id: 'hot', name: 'hot', resources: ['a', 'b'] },
      { kind: 'task', id: '1', name: 'task 1', resources: ['d'] },
    ])
  })

  it('is bounded', () => {
    const many = Array.from({ length: 40 }, (_, i) => [task(`a${i}`, 'one', `r${i}`), task(`b${i}`, null, 'r')]).flat()
    const found = suggestionsOf(many)
    expect([found.length, found[0]?.resources.length]).toEqual([6, 8])
  })
})

describe('the load of a rehearsed rule', () => {
  const figures = { peak: { alarms: 13 }, flood: { count: 1 }, chattering: { count: 1 } }
  it.each([
    [{ raised: 0, figures }, ''],
    [{ raised: 200_000 }, '200,000 alarms.'],
    [{ raised: 14, figures }, '14 alarms, at most 13 in ten minutes, 1 flood, chattering.'],
  ])('%#: %s', (alarms, text) => {
    expect(loadText(alarms)).toBe(text)
  })
})

describe('notification', () => {
  const nobody = { calendars: [] }
  const ann = { calendars: [{ contacts: ['ann'] }, { contacts: ['ann', 'bob'] }] }
  it.each([
    [nobody, [], [], 'Alarms notify no contact'],
    [nobody, [{}], [], '1 policy notifies contacts'],
    [
      nobody,
      [{}, {}],
      [{ state: 'over' }, { state: 'active' }],
      '2 policies notify contacts; 1 maintenance window is active',
    ],
    [ann, [{}], [], 'ann and bob are on call'],
  ])('%#: %s', (calls, policies, windows, text) => {
    expect(onCallAnswer(calls, policies, windows)).toBe(text)
  })

  it('states recipients, selections and deliveries', () => {
    const step = { after: 'PT15M', onCall: 'night' }
    expect(recipientsText({ contacts: ['ann', 'bob'], escalate: [step] })).toBe(
      'ann, bob; after PT15M on call of night',
    )
    expect(selectionText({ severities: ['CRITICAL'], prefix: 'pump-', tags: { line: '3' } })).toBe(
      'CRITICAL; pump-*; line 3',
    )
    expect(selectionText()).toBe('all')
    const sent = { state: 'waiting', attempts: 2, lastError: '503 busy' }
    expect(notificationText(sent)).toBe('waiting after 2 attempts: 503 busy')
    expect(notificationText({ ...sent, state: 'delivered' })).toBe('delivered')
    const acknowledged = { ...sent, state: 'delivered', acknowledgedTime: '2026-01-15T12:00:00Z' }
    expect(notificationText(acknowledged)).toBe('delivered, acknowledged by its link')
  })
})
