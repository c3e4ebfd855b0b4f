/** Checks properties of several tasks at once, over messages, time, crashes and user commands. */
import fc from 'fast-check'
import { asyncScheduler } from 'rxjs'
import { AppError, messageOf } from '#kernel'
import { tryWithoutChunks } from '../minimise.ts'
import { constantsOf } from '../arbitraries/constants.ts'
import { isSignal } from '../arbitraries/signals.ts'
import { withConstants, type Metrics } from '../arbitraries/messages.ts'
import { searchTime, type CheckOptions } from '../check-options.ts'
import { PropertyError } from '../check-rule.ts'
import { labelsOf, requireLabels, type Moment } from '../checked-run.ts'
import { lengthOf } from '../length-of.ts'
import { instantText, lengthText } from '../moment-text.ts'
import { propertiesOf, watch, type RuleProperty } from '../property.ts'
import { search } from '../search.ts'
import { createRegistry } from '#core'
import { plugOfNode } from '#core/spi'
import { runWorld, wholeGraph, type World, type WorldStep } from './world-run.ts'

export interface WorldOptions extends Pick<
  CheckOptions,
  'time' | 'numRuns' | 'seed' | 'path' | 'every' | 'tail' | 'print' | 'patience' | 'concurrency'
> {
  /** metrics of each resource, by its id */
  readonly byResource: Readonly<Record<string, Metrics>>
  /** maximum number of steps per case; default 40 */
  readonly steps?: number
  /** commands to include in addition to messages and time; default all of them */
  readonly commands?: readonly ('stop' | 'start' | 'push' | 'change' | 'crash')[]
}

export interface WorldReport {
  readonly properties: readonly string[]
  readonly cases: number
  readonly steps: number
  /** number of firings by task and label */
  readonly fired: Readonly<Record<string, number>>
  readonly seed: number
  toString(): string
}

const STEPS = 40
const EVERY_MS = 60_000
const TAIL_MS = 3_600_000
const PATIENCE_MS = 1000
const SHRINK_MS = 5000
const COMMANDS = ['stop', 'start', 'push', 'change', 'crash'] as const

/**
 * Runs tasks together on in-memory services, through random steps, and checks properties of moments in each run. Labels
 * are prefixed with the task's name, as in `heating/relay`. No plug call may fail. Throws a `PropertyError` with the
 * steps of the smallest case; `VALIDATION` for properties of whole runs.
 */
export async function checkWorld(
  world: World,
  property: RuleProperty | readonly RuleProperty[],
  options: WorldOptions,
): Promise<WorldReport> {
  const properties = propertiesOf(property)
  requireMonitors(properties, world)
  const tail = lengthOf(options.tail ?? TAIL_MS, 'the tail')
  const patience = lengthOf(options.patience ?? PATIENCE_MS, 'patience')
  const began = asyncScheduler.now()
  const seed = options.seed ?? Math.trunc(began) % 0x7fff_ffff
  const needs = new Set(properties.flatMap(({ needs: some = [] }) => some))
  const counts = { cases: 0, steps: 0, fired: new Map<string, number>() }
  const judge = async (steps: readonly WorldStep[]): Promise<string | undefined> => {
    const { moments, until } = await runWorld(world, steps, { tail, patience })
    counts.cases++
    counts.steps += steps.length
    for (const { node } of moments.flatMap(({ fired }) => fired))
      counts.fired.set(node, (counts.fired.get(node) ?? 0) + 1)
    for (const need of needs) if (need.met({ moments, firings: firingsIn(moments) })) needs.delete(need)
    const failure = moments.flatMap(({ failed }) => failed)[0]
    if (failure !== undefined) return `${failure.node} failed at ${instantText(failure.time)}: ${failure.error ?? ''}`
    for (const one of properties) {
      const wrong = one.monitor && watch(one.monitor, moments, until)
      if (wrong !== undefined) return `"${one.name}" does not hold: ${wrong}`
    }
    return undefined
  }
  const texts = new WeakMap<readonly WorldStep[], string>()
  const found = await search(
    stepsOf(world, properties, options),
    async (steps) => {
      const wrong = await judge(steps).catch(messageOf)
      if (wrong === undefined) return
      texts.set(steps, wrong)
      throw new Error(wrong)
    },
    {
      seed,
      path: options.path,
      numRuns: options.numRuns ?? Number.MAX_SAFE_INTEGER,
      time: searchTime(options),
      shrinkTime: SHRINK_MS,
      concurrency: options.concurrency,
    },
  )
  if (found !== undefined) {
    const deadline = asyncScheduler.now() + SHRINK_MS
    const steps = await fewest(
      found.failing,
      async (fewer) => asyncScheduler.now() < deadline && (await judge(fewer).catch(messageOf)) !== undefined,
    )
    const wrong = await judge(steps).catch(messageOf)
    const lines = [
      wrong ??
        `it failed once, but not when repeated: a plug is not deterministic. Its message: ${texts.get(found.failing) ?? ''}`,
      ...steps.map((step, i) => `${String(i + 1).padStart(4)}  ${stepText(step)}`),
      `then ${lengthText(tail)} more`,
      `to repeat this case: { seed: ${found.seed}, path: '${found.path}' }`,
    ]
    throw new PropertyError(lines.join('\n'), {})
  }
  const unmet =
    options.path === undefined
      ? [...needs].map(({ text }) => `"${text}" was true in none of ${counts.cases} cases`)
      : []
  const report = reportOf(properties, counts, seed)
  if (unmet.length > 0)
    throw new PropertyError(
      ['all properties hold, but their subjects never occurred:', ...unmet, report.toString()].join('\n'),
      {},
    )
  options.print?.(report.toString())
  return report
}

function reportOf(
  properties: readonly RuleProperty[],
  { cases, steps, fired }: { cases: number; steps: number; fired: ReadonlyMap<string, number> },
  seed: number,
): WorldReport {
  const names = properties.map(({ name }) => name)
  const lines = [
    ...names.map((name) => `holds: ${name}`),
    `tried: ${cases} cases, ${steps} steps, seed ${seed}`,
    ...[...fired].map(([node, count]) => `  ${node}  fired ${count} times`),
  ]
  const report = { properties: names, cases, steps, fired: Object.fromEntries(fired), seed }
  return { ...report, toString: () => lines.join('\n') }
}

function requireMonitors(properties: readonly RuleProperty[], world: World): void {
  for (const { name, monitor, needs = [] } of properties) {
    if (monitor === undefined && needs.length === 0)
      throw new AppError(
        'VALIDATION',
        `"${name}" cannot be checked at single moments; use always, never, leadsTo or similar properties for a world`,
      )
  }
  requireLabels(properties, labelsOf(wholeGraph(world)))
}

function firingsIn(moments: readonly Moment[]) {
  const fired = moments.flatMap((moment) => moment.fired)
  return (node?: string) => fired.filter((event) => node === undefined || event.node === node)
}

function stepsOf(
  world: World,
  properties: readonly RuleProperty[],
  { byResource, steps = STEPS, commands = COMMANDS, every = EVERY_MS }: WorldOptions,
): fc.Arbitrary<readonly WorldStep[]> {
  const usual = lengthOf(every, 'every')
  const tasks = Object.entries(world.tasks)
  const names = [...new Set(Object.values(byResource).flatMap((metrics) => Object.keys(metrics)))]
  const constants = tasks.map(([, { rule }]) => constantsOf(rule, names))
  const durations = [
    ...constants.flatMap((one) => one.durations),
    ...properties.flatMap(({ durations: of = [] }) => of),
  ]
  const near = [...new Set(durations.flatMap((ms) => [ms, ms - 1, ms + 1, Math.round(ms / 2)]))].filter((ms) => ms > 0)
  const gap = fc.constantFrom(usual, usual, usual, 0, ...near)
  const messages = Object.entries(byResource).map(([resource, metrics]) =>
    fc
      .record({
        gap,
        values: fc.record(
          generatorsOf(
            metrics,
            constants.map(({ values }) => values),
          ),
        ),
      })
      .map(({ gap: ms, values }): WorldStep => ({ kind: 'message', gap: ms, message: { resource, ...values } })),
  )
  const others = commands.flatMap((kind) =>
    tasks.flatMap(([task, { rule, changes = [] }]) => commandsOf(kind, task, rule, changes.length, gap, world)),
  )
  const wait = gap.map((ms): WorldStep => ({ kind: 'wait', gap: ms }))
  const step = fc.oneof(
    { weight: 10, arbitrary: fc.oneof(...messages) },
    { weight: 1, arbitrary: wait },
    ...(others.length > 0 ? [{ weight: 2, arbitrary: fc.oneof(...others) }] : []),
  )
  return fc.array(step, { maxLength: steps, size: 'max' })
}

function commandsOf(
  kind: (typeof COMMANDS)[number],
  task: string,
  rule: World['tasks'][string]['rule'],
  changes: number,
  gap: fc.Arbitrary<number>,
  world: World,
): readonly fc.Arbitrary<WorldStep>[] {
  switch (kind) {
    case 'crash':
      return [gap.map((ms): WorldStep => ({ kind, gap: ms }))]
    case 'stop':
    case 'start':
      return [gap.map((ms): WorldStep => ({ kind, gap: ms, task }))]
    case 'change':
      if (changes === 0) return []
      return [fc.record({ gap, rule: fc.nat(changes - 1) }).map((drawn): WorldStep => ({ kind, task, ...drawn }))]
    case 'push':
      return pushesOf(task, rule, gap, world)
  }
}

function pushesOf(
  task: string,
  rule: World['tasks'][string]['rule'],
  gap: fc.Arbitrary<number>,
  world: World,
): readonly fc.Arbitrary<WorldStep>[] {
  const registry = createRegistry(world.plugs({}))
  return (rule.sensors ?? []).flatMap(({ label, name, version, properties }) => {
    const plug = registry.find('sensor', name, version)
    const states = plug === undefined ? [] : plugOfNode(plug, properties).states
    if (states.length === 0) return []
    const step = fc.record({ gap, state: fc.constantFrom(...states) })
    return [step.map((drawn): WorldStep => ({ kind: 'push', task, node: label, ...drawn }))]
  })
}

function generatorsOf(
  metrics: Metrics,
  constants: readonly Readonly<Record<string, readonly unknown[]>>[],
): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, generator]) => {
      if (isSignal(generator))
        throw new AppError(
          'VALIDATION',
          `${name} is a signal; use a generator of single values for a world, such as readings(...)`,
        )
      const possible = constants.flatMap((of) => of[name] ?? [])
      return [name, withConstants(generator, possible)]
    }),
  )
}

/** Removes irrelevant steps: first halves, then single steps. */
async function fewest(
  steps: readonly WorldStep[],
  fails: (fewer: readonly WorldStep[]) => Promise<boolean>,
): Promise<readonly WorldStep[]> {
  let best = steps
  await tryWithoutChunks(
    () => best.length,
    async (start, end) => {
      const rest = [...best.slice(0, start), ...best.slice(end)]
      if (await fails(rest)) best = rest
    },
  )
  return best
}

function stepText(step: WorldStep): string {
  const after = step.gap === 0 ? 'at once' : `after ${lengthText(step.gap)}`
  switch (step.kind) {
    case 'message': {
      const { resource, ...values } = step.message
      return `${after}, ${resource} sends ${JSON.stringify(values)}`
    }
    case 'wait':
      return `${after}, nothing`
    case 'stop':
    case 'start':
      return `${after}, a user ${step.kind}s ${step.task}`
    case 'push':
      return `${after}, a user sets ${step.task}/${step.node} to ${step.state}`
    case 'change':
      return `${after}, a user changes ${step.task} to version ${step.rule + 1}`
    case 'crash':
      return `${after}, the process is killed and restarts`
  }
}
