/** Tests that runs, calls and checks have the same results in threads as in this one, whatever services they call. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { PlugServices, Ports } from '../../../src/core/ports.ts'
import type { Actuator, Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { readModule } from '../../../src/host/plug-modules.ts'
import { functionPlug } from '../../../src/host/wiring/function-plugs.ts'
import { threadedRuns, ThreadPlugs } from '../../../src/host/work/threaded-runs.ts'
import { WorkThreads } from '../../../src/host/work/work-threads.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { runsHere, runsBySize, type DirectRuns } from '../../../src/services/rules/tools/direct-runs.ts'
import { root } from '../../support/repository.ts'
import { Workspace } from '../../cli/run-cli.ts'

const services = {
  alarms: {
    raise: (alarm: object) => Promise.resolve({ id: 'a1', ...alarm }),
    check: ({ severity }: { severity?: string }) =>
      severity === 'LOUD' ? [{ path: '/severity', message: '"LOUD" is not a severity' }] : [],
  },
  resources: {
    get: (id: string) =>
      id === 'gone'
        ? Promise.reject(new AppError('NOT_FOUND', 'no resource gone'))
        : Promise.resolve({ id, room: 'K1' }),
  },
} as unknown as PlugServices
const ports: Ports = { metadata: (resource) => ({ floor: `of ${resource}` }), secret: () => 'secret' }
const deployed = [
  { name: 'twice', version: '1.0.0', kind: 'sensor', states: ['Success'], input: [], output: [] },
] as const
const functions = {
  call: (_name: string, _version: string, params: unknown) =>
    Promise.resolve({ state: 'Success', rawData: { asked: Object.keys(params as object).length } }),
}

const threads = new WorkThreads({ later: () => () => undefined, onlyCounted: true })
afterAll(() => threads.close())
const place = new Workspace({
  'siren.mjs': `
import { definePlug } from '${pathToFileURL(join(root, 'src/index.ts')).href}'
export const siren = definePlug({ name: 'siren', version: '1.0.0', kind: 'actuator', execute: () => ({ message: 'wailing' }) })
`,
  'broken.mjs': 'export const siren = ',
})
afterAll(() => place[Symbol.dispose]())
const modulesOf = (...names: readonly string[]) => names.map((name) => pathToFileURL(join(place.path, name)).href)
let modules = modulesOf('siren.mjs')
const { plugs: sirens } = await readModule(modules[0] ?? '')
const warnings: string[] = []
const logger = { warn: (text: string) => void warnings.push(text) }
const plugs = new ThreadPlugs({ plugs: () => sirens, modules: () => modules, logger })
const dependencies = { tenant: 'acme', services, ports, now: () => 1_000, plugs }
const there = threadedRuns({ ...dependencies, threads, deployed: () => deployed, functions: () => functions })
const here = runsHere({
  registry: createRegistry([
    ...createBuiltins({ services }),
    ...sirens,
    ...deployed.map((one) => functionPlug(one, () => functions)),
  ]),
  ports,
  now: () => 1_000,
})

const SENSOR = { label: 'any', name: 'stream', resource: '$' }
const ruleOf = (actuator: Omit<Actuator, 'label'>, ...sensors: readonly Sensor[]): Rule => ({
  sensors: [SENSOR, ...sensors],
  actuators: [{ label: 'acts', ...actuator }],
  triggers: [{ sourceLabel: 'any', destinationLabel: 'acts', invocationPolicy: 0 }],
})
const LOGS = ruleOf({ name: 'log', properties: { message: '{{streamdata.t}} ${META.$.floor}' } })
const messages = [1, 2, 3].map((t) => ({ resource: 'boiler', timestamp: t * 1_000, t }))
const data = messages.map((message) => [message])
const SCRIPT = { label: 'draws', name: 'script', resource: '$', properties: { script: 'return { c: Math.random() }' } }

const stored = (name: string): Promise<Rule> =>
  name === 'logs' ? Promise.resolve(LOGS) : Promise.reject(new AppError('NOT_FOUND', `no template ${name}`))
const bytesOf = (json: string): Uint8Array => new TextEncoder().encode(json)

const OPERATIONS: Readonly<Record<string, (runs: DirectRuns) => unknown>> = {
  'a simulation': (runs) => runs.simulate(stored, { rule: LOGS, messages, resource: 'boiler', explain: 'acts' }),
  'a simulation of a stored template': (runs) => runs.simulate(stored, { template: 'logs', messages }),
  'a simulation of a template that does not exist': (runs) => runs.simulate(stored, { template: 'gone', messages }),
  'a simulation with a script': (runs) => {
    const rule = ruleOf({ name: 'log', properties: {} }, SCRIPT)
    return runs.simulate(stored, { rule, messages, resource: 'boiler', seed: 4 })
  },
  'a simulation without a rule': (runs) => runs.simulate(stored, { messages }),
  'a simulation of a wrong shape': (runs) => runs.simulate(stored, { rule: LOGS, messages: 7, from: {} }),
  'a simulation that is long': (runs) => runs.simulate(stored, bytesOf(JSON.stringify({ rule: LOGS, messages }))),
  'a simulation that is not JSON': (runs) => runs.simulate(stored, bytesOf('{"rule":')),
  'a simulation with a key that stands twice': (runs) => runs.simulate(stored, bytesOf('{"seed":1,"seed":2}')),
  'a simulation with a key of a prototype': (runs) => runs.simulate(stored, bytesOf('{"rule":{"__proto__":{}}}')),
  'a simulation that nests too deep': (runs) => runs.simulate(stored, bytesOf('['.repeat(101))),
  'a simulation that is not UTF-8': (runs) => runs.simulate(stored, Uint8Array.of(34, 255, 34)),
  'a rule that a service rejects': (runs) => {
    const rule = ruleOf({ name: 'createAlarm', properties: { type: 'HOT', severity: 'LOUD' } })
    return runs.simulate(stored, { rule, messages })
  },
  'a function of the tenant': (runs) => {
    const rule = { sensors: [{ label: 'f', name: 'twice', resource: '$' }] }
    return runs.simulate(stored, { rule, messages, resource: 'boiler' })
  },
  'a plug of the operator': (runs) =>
    runs.simulate(stored, { rule: ruleOf({ name: 'siren', properties: {} }), messages, executeActuators: true }),
  'a run over data': (runs) => all(runs.run(undefined, { graph: LOGS, data, conf: { resource: 'boiler' } }, {})),
  'a run that is long': (runs) => all(runs.run(undefined, bytesOf(JSON.stringify({ graph: LOGS, data })), {})),
  'a run of a stored template': (runs) =>
    all(runs.run({ document: { name: 't', ...LOGS }, owner: 'template "t"' }, { data, conf: { resource: 'b' } }, {})),
  'a run of two graphs': (runs) => all(runs.run({ document: { name: 't', ...LOGS } }, { graph: LOGS }, {})),
  'a call of a plug': (runs) =>
    runs.call('actions', 'log', undefined, { properties: { message: '{{streamdata.a}}' }, streamData: { a: 7 } }),
  'a call that is long': (runs) => runs.call('actions', 'log', undefined, bytesOf('{"properties":{"message":"a"}}')),
  'a call that asks a service': (runs) => runs.call('sensors', 'getMetadata', undefined, { resource: 'boiler' }),
  'a call that a service rejects': (runs) => runs.call('sensors', 'getMetadata', undefined, { resource: 'gone' }),
  'a call of a plug that does not exist': (runs) => runs.call('actions', 'none', undefined, {}),
  'a check': (runs) => runs.check({ name: 't', ...LOGS }, {}),
  'a check of a wrong template': (runs) => runs.check({ name: 't', sensors: [{ label: 'a', name: 'nope' }] }, {}),
  'the variables of a graph': (runs) =>
    runs.variables({ ...LOGS, sensors: [{ ...SENSOR, resource: '${variables.r}' }] }),
  'the variables of a long graph': (runs) => runs.variables(bytesOf(JSON.stringify(LOGS))),
  'the next runs of a schedule': (runs) => runs.nextRuns('0 0 12 * * ?', { from: 0, count: 3 }),
  'a schedule that cannot be read': (runs) => runs.nextRuns('never', { from: 0 }),
}

async function all<T>(reports: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const report of reports) found.push(report)
  return found
}

/** Returns the result, or the error. */
async function outcome(operation: (runs: DirectRuns) => unknown, runs: DirectRuns): Promise<unknown> {
  try {
    const found = await operation(runs)
    return found instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(found)) : found
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, issues } = error
    return { code, message, issues }
  }
}

describe('work in a thread', () => {
  it.each(Object.entries(OPERATIONS))('has the same result as in this thread: %s', async (_name, operation) => {
    const wanted = await outcome(operation, here)
    expect(wanted).toBeDefined()
    expect(await outcome(operation, there)).toEqual(wanted)
  })

  it('is done here when a thread cannot load the plugs of the operator, until these are others', async () => {
    const seen = () => [plugs.modules, plugs.onlyHere]
    const call = (runs: DirectRuns) => outcome(() => runs.call('actions', 'siren', undefined, {}), runs)
    expect(seen()).toEqual([modules, []])
    modules = modulesOf('siren.mjs', 'broken.mjs')
    expect(await call(there)).toMatchObject({ code: 'UNAVAILABLE' })
    expect(seen()).toEqual([[], ['siren']])
    expect(warnings).toEqual([expect.stringContaining('broken.mjs: the module cannot be loaded')])
    expect(await call(runsBySize(here, there))).toMatchObject({ result: true, message: 'wailing' })
    modules = modulesOf('siren.mjs')
    expect(seen()).toEqual([modules, []])
    expect(await call(there)).toMatchObject({ result: true, message: 'wailing' })
  })
})

describe('a run', () => {
  const small = { properties: { message: 'a' } }
  const long = { properties: { message: '{{streamdata.a}}'.repeat(200) } }
  const blocks = { properties: { message: '{{#each streamdata.a}}{{this}}{{/each}}' } }
  const OPERATORS = JSON.stringify({ rule: ruleOf({ name: 'ofOperator', properties: { a: 'x'.repeat(20_000) } }) })
  const PLACES: readonly (readonly [string, 'here' | 'there', (runs: DirectRuns) => unknown])[] = [
    ['a short call', 'here', (runs) => runs.call('actions', 'log', undefined, small)],
    ['a long call', 'there', (runs) => runs.call('actions', 'log', undefined, long)],
    ['a call whose template has blocks', 'there', (runs) => runs.call('actions', 'log', undefined, blocks)],
    ['a long call of a plug of the operator', 'here', (runs) => runs.call('actions', 'ofOperator', undefined, long)],
    ['a short simulation', 'here', (runs) => runs.simulate(stored, { rule: LOGS, messages })],
    [
      'a simulation of many messages',
      'there',
      (runs) => runs.simulate(stored, { rule: LOGS, messages: Array.from({ length: 900 }, () => ({ t: 1 })) }),
    ],
    [
      'a simulation of much time',
      'there',
      (runs) => runs.simulate(stored, { rule: LOGS, from: 0, until: '1971-01-01T00:00:00Z' }),
    ],
    [
      'a long simulation that names a plug of the operator',
      'here',
      (runs) => runs.simulate(stored, bytesOf(OPERATORS)),
    ],
    ['a long template', 'there', (runs) => runs.check({ description: 'x'.repeat(20_000) }, {})],
    ['many runs of a schedule', 'there', (runs) => runs.nextRuns('* * * * * ?', { from: 0, count: 5_000 })],
  ]

  it.each(PLACES)('is done by its size: %s %s', async (_name, place, operation) => {
    const asked: string[] = []
    const marked = (name: string): DirectRuns =>
      Object.fromEntries(Object.keys(here).map((one) => [one, () => void asked.push(name)])) as unknown as DirectRuns
    const elsewhere = { ...marked('there'), onlyHere: () => ['ofOperator'], counted: <T>(work: () => T) => work() }
    await operation(runsBySize(marked('here'), elsewhere))
    expect(asked).toEqual([place])
  })
})
