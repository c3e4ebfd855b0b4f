/** Runs a rule over random messages and holds properties against each run. */
import fc from 'fast-check'
import { durationMs } from '../kernel/duration.ts'
import { AppError, messageOf } from '../kernel/errors.ts'
import { play } from '../core/simulate/playback.ts'
import type { Rule, Template } from '../core/rule/rule.ts'
import type { Message } from '../core/task/origin.ts'
import { crashPoints } from './arbitraries/crash-points.ts'
import { messageStreams, type StreamOptions } from './arbitraries/messages.ts'
import { firingLines, messageLines } from './case-text.ts'
import { runCase, type CaseOptions, type CheckedRun, type RunCase } from './checked-run.ts'
import { propertyOf, type PropertyLike, type RuleProperty } from './property.ts'
import { writeCase } from './write-case.ts'

export interface CheckOptions
  extends Omit<CaseOptions, 'tail'>, Partial<Omit<StreamOptions, 'resources' | 'byResource'>> {
  /** streams of one's own, instead of `metrics` and what goes with it */
  readonly messages?: fc.Arbitrary<readonly Message[]>
  /** who sends; default `resource`, else the resource of the rule's task */
  readonly resources?: NonNullable<StreamOptions['resources']>
  readonly byResource?: NonNullable<StreamOptions['byResource']>
  /** how long the clock runs on after the last message: ms, ISO 8601, or short; default an hour */
  readonly tail?: number | string
  /** cases to try; default 100 */
  readonly numRuns?: number
  /** from the message of a failure, to see the same cases again */
  readonly seed?: number
  readonly path?: string
  /** where to write the smallest failing case: `failures/alarm` gives `failures/alarm.rule.json` and `.ndjson` */
  readonly writeTo?: string
}

/** What `checkRule` throws: its message tells the smallest case. */
export class PropertyError extends AppError {
  /** the smallest case that was found */
  readonly failing: RunCase

  constructor(message: string, failing: RunCase, cause: unknown) {
    super('PROPERTY', message, { cause })
    this.name = 'PropertyError'
    this.failing = failing
  }
}

const MAX_MESSAGES = 60

/**
 * Runs a rule, or random ones, over random messages and holds properties against every run. Throws a `PropertyError`
 * (code `PROPERTY`) with the smallest case for which one of them does not hold. A rule that cannot start at all is
 * thrown as `engine.start` throws it.
 */
export async function checkRule(
  rule: Rule | Template | fc.Arbitrary<Rule | Template>,
  property: PropertyLike | readonly PropertyLike[],
  options: CheckOptions,
): Promise<void> {
  const properties = (isList(property) ? property : [property]).map(propertyOf)
  const caseOptions = caseOptionsOf(options)
  if (!isArbitrary(rule)) await play([{ rule }], { ...caseOptions, from: 0, until: 0 })
  const cases: fc.Arbitrary<RunCase> = fc.record({
    rule: isArbitrary(rule) ? rule : fc.constant(rule),
    messages: options.messages ?? messageStreams(streamOf(rule, options)),
    crashes: crashPoints(options.maxLength ?? MAX_MESSAGES),
  })
  const { numRuns, seed, path } = options
  // Not run again for its text: a plug that does not repeat itself may be what is wrong.
  const found = new WeakMap<RunCase, Broken>()
  const details = await fc.check(
    fc.asyncProperty(cases, async (one) => {
      const broken = await firstBroken(one, properties, caseOptions)
      if (broken === undefined) return
      found.set(one, broken)
      throw broken.error
    }),
    {
      numRuns: numRuns ?? 100,
      ...(seed !== undefined && { seed }),
      ...(path !== undefined && { path }),
    },
  )
  if (!details.failed) return
  const [failing] = details.counterexample ?? []
  if (failing === undefined)
    throw new AppError('PROPERTY', `no case could be made: ${messageOf(details.errorInstance)}`)
  const { writeTo } = options
  const written = writeTo === undefined ? undefined : await writeCase(writeTo, failing, caseOptions)
  const broken = found.get(failing)
  const about = [
    `"${broken?.property.name ?? 'the property'}" does not hold (case ${details.numRuns}, made smaller ${details.numShrinks} times):`,
    `  ${messageOf(broken?.error ?? details.errorInstance)}`,
    ...(isArbitrary(rule) ? [`rule: ${JSON.stringify(failing.rule)}`] : []),
    ...(await caseLines(failing, caseOptions)),
    ...(broken?.restarted === true ? [`the process dies after message ${failing.crashes.join(', ')}`] : []),
    `the same case again: { seed: ${details.seed}, path: '${details.counterexamplePath?.split(':')[0] ?? ''}' }`,
    ...(written === undefined ? [] : [`replay: reflexarc ${written.command.map(quoted).join(' ')}`]),
  ]
  throw new PropertyError(about.join('\n'), failing, details.errorInstance)
}

interface Broken {
  readonly property: RuleProperty
  readonly error: unknown
  /** whether it looked at the run with deaths */
  readonly restarted: boolean
}

async function firstBroken(
  one: RunCase,
  properties: readonly RuleProperty[],
  options: CaseOptions,
): Promise<Broken | undefined> {
  let restarted = false
  const plain = await runCase(one, options)
  const run: CheckedRun = {
    ...plain,
    restarted() {
      restarted = true
      return plain.restarted()
    },
  }
  for (const property of properties) {
    try {
      const verdict = await property.check(run)
      if (verdict === undefined || verdict === true) continue
      return { property, restarted, error: new Error(verdict === false ? 'it answers false' : verdict) }
    } catch (error) {
      return { property, restarted, error }
    }
  }
  return undefined
}

/** A case that makes even the engine throw still has its messages to show. */
async function caseLines(failing: RunCase, options: CaseOptions): Promise<readonly string[]> {
  const { messages } = failing
  const sent = [`messages (the clock runs on ${options.tail / 1000} s):`, ...messageLines(messages)]
  try {
    const fired = firingLines(await runCase(failing, options))
    return [...sent, ...(fired.length === 0 ? ['nothing fired'] : ['fired:', ...fired])]
  } catch {
    return sent
  }
}

function caseOptionsOf(options: CheckOptions): CaseOptions {
  const { plugs, resource, variables, settings, ports, metadata, patience, tail = 3_600_000 } = options
  const tailMs = typeof tail === 'number' ? tail : durationMs(tail)
  if (!(tailMs >= 0)) throw new AppError('VALIDATION', `the tail is ${String(tail)}; give a length of time such as 1h`)
  return {
    plugs,
    tail: tailMs,
    ...(resource !== undefined && { resource }),
    ...(variables && { variables }),
    ...(settings && { settings }),
    ...(ports && { ports }),
    ...(metadata && { metadata }),
    ...(patience && { patience }),
  }
}

function streamOf(rule: Rule | Template | fc.Arbitrary<Rule | Template>, options: CheckOptions): StreamOptions {
  const { metrics, byResource } = options
  if (metrics === undefined && byResource === undefined) {
    const example = 'metrics: { temperature: readings(60, 120) }'
    throw new AppError('VALIDATION', `checkRule does not know what the devices send; give ${example}, or messages`)
  }
  const resource = options.resource ?? (isArbitrary(rule) ? undefined : resourceOf(rule)) ?? 'r1'
  return { ...options, metrics: metrics ?? {}, resources: options.resources ?? [resource] }
}

function resourceOf(rule: Rule | Template): string | undefined {
  return 'name' in rule ? rule.taskDefaults?.resource : rule.task?.resource
}

function isArbitrary(value: unknown): value is fc.Arbitrary<Rule | Template> {
  return value instanceof fc.Arbitrary
}

function isList(given: PropertyLike | readonly PropertyLike[]): given is readonly PropertyLike[] {
  return Array.isArray(given)
}

function quoted(argument: string): string {
  return /^[\w./:@-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`
}
