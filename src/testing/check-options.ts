/** Defines the options of `checkRule`, and generates the cases from them. */
import fc from 'fast-check'
import { generatorHere } from '#platform/generate'
import { Preparer, settingsOf } from '#core/spi'
import { createRegistry, type Message, type Plug, type Rule, type Template } from '#core'
import { AppError, isPlainObject } from '#kernel'
import { constantsOf } from './arbitraries/constants.ts'
import { messageStreams, type Metrics, type StreamOptions } from './arbitraries/messages.ts'
import type { CaseOptions, CrashPoint, Metadata, RunCase } from './checked-run.ts'
import { lengthOf } from './length-of.ts'
import type { RuleProperty } from './property.ts'
import { withSettings } from './write-case.ts'

export interface CheckOptions
  extends
    Omit<CaseOptions, 'tail' | 'generate' | 'variables' | 'metadata' | 'preparer' | 'patience'>,
    Partial<Omit<StreamOptions, 'resources' | 'byResource' | 'constants' | 'counts'>> {
  /** the plugs that rules may use; a function creates new ones for each engine, so that they share no memory */
  readonly plugs: readonly Plug[] | (() => readonly Plug[])
  /** custom streams, instead of `metrics` and its related options */
  readonly messages?: fc.Arbitrary<readonly Message[]>
  /** senders; default `resource`, otherwise the resource of the rule's task */
  readonly resources?: NonNullable<StreamOptions['resources']>
  readonly byResource?: NonNullable<StreamOptions['byResource']>
  /** values, or generators that draw one per case */
  readonly variables?: Readonly<Record<string, unknown>>
  /** by resource: values, or generators */
  readonly metadata?: Metadata
  /** time on the clock after the last message: ms, ISO 8601, or short; default an hour */
  readonly tail?: number | string
  /** real time to wait for plugs: ms or short as in `5s`; default 1 s */
  readonly patience?: number | string
  /**
   * number of cases that may wait for their plugs at the same time; default 32. Use 1 for plugs that share something
   * outside a case. With synchronous plugs, cases run one after the other
   */
  readonly concurrency?: number
  /** search time: ms or short as in `30s`; default 2 s, and unlimited with `numRuns` */
  readonly time?: number | string
  /** maximum number of cases; default: as many as the time allows */
  readonly numRuns?: number
  /** from a failure's message, to repeat the same cases; default: random */
  readonly seed?: number
  readonly path?: string
  /**
   * plug calls that may fail: all, or those of the named nodes. Default false: only calls at messages that contain a
   * fault, NaN or a hole
   */
  readonly allowErrors?: boolean | readonly string[]
  /** default true: each case also runs in a live engine without subscribers, and must have the same result */
  readonly columnar?: boolean
  /** events that must occur for the check to be conclusive. Default: any firing. False: none */
  readonly cover?: Cover | false
  /** default true; false: reports the first failing case without shrinking it */
  readonly shrink?: boolean
  /** receives the report of a successful check as text, for example `console.log` */
  readonly print?: (text: string) => void
  /**
   * path for the smallest failing case: `failures/alarm` writes `failures/alarm.rule.json`, `.ndjson` and `.case.json`
   */
  readonly writeTo?: string
}

/**
 * Minimum shares of cases (0 to 1) in which destinations must fire, and whether all gate rows and all states must
 * occur.
 */
export interface Cover {
  readonly fired?: Readonly<Record<string, number>>
  readonly rows?: 'all'
  readonly states?: 'all'
}

export type Checked = Rule | Template | fc.Arbitrary<Rule | Template>

const TIME_MS = 2000
const PATIENCE_MS = 1000
const TAIL_MS = 3_600_000

export function isArbitrary(value: unknown): value is fc.Arbitrary<unknown> {
  return value instanceof fc.Arbitrary
}

/** Returns the rule of a check, or undefined if each case has its own. */
export function oneRule(rule: Checked): Rule | Template | undefined {
  return isArbitrary(rule) ? undefined : rule
}

export function searchTime({ time, numRuns }: Pick<CheckOptions, 'time' | 'numRuns'>): number {
  if (time === undefined) return numRuns === undefined ? TIME_MS : Number.POSITIVE_INFINITY
  return lengthOf(time, 'time')
}

export function caseOptionsOf(options: CheckOptions): CaseOptions {
  const { plugs, resource, settings, ports, patience = PATIENCE_MS, tail = TAIL_MS } = options
  const variables = fixed(options.variables)
  const metadata = options.metadata && fixedMetadata(options.metadata)
  const preparer = typeof plugs === 'function' ? undefined : new Preparer(createRegistry(plugs))
  return {
    preparer: () => preparer ?? new Preparer(createRegistry((plugs as () => readonly Plug[])())),
    tail: lengthOf(tail, 'the tail'),
    patience: lengthOf(patience, 'patience'),
    generate: generatorHere(),
    ...(resource !== undefined && { resource }),
    ...(variables && { variables }),
    ...(settings && { settings }),
    ...(ports && { ports }),
    ...(metadata && { metadata }),
  }
}

/** Generates the random cases to check these properties with. */
export function casesOf(
  rule: Checked,
  options: CheckOptions,
  properties: readonly RuleProperty[],
): fc.Arbitrary<RunCase> {
  const variables = drawn(options.variables)
  const metadata = options.metadata && Object.entries(options.metadata).map(([id, of]) => [id, drawn(of)] as const)
  return fc
    .record({
      rule: isArbitrary(rule) ? rule : fc.constant(rule),
      messages: options.messages ?? messageStreams(streamOf(rule, options, properties)),
      draws: crashDraws,
      seed: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 0x7fff_ffff })),
      variables: variables === undefined ? fc.constant(undefined) : fc.record(variables),
      metadata:
        metadata === undefined
          ? fc.constant(undefined)
          : fc.record(Object.fromEntries(metadata.map(([id, of]) => [id, fc.record(of ?? {})]))),
    })
    .map(({ draws, variables: values, metadata: resources, ...one }) => ({
      ...one,
      crashes: crashPoints(draws, one.messages.length),
      ...(values && Object.keys(values).length > 0 && { variables: values }),
      ...(resources && Object.keys(resources).length > 0 && { metadata: resources }),
    }))
}

function streamOf(rule: Checked, options: CheckOptions, properties: readonly RuleProperty[]): StreamOptions {
  const { metrics, byResource } = options
  if (metrics === undefined && byResource === undefined) {
    const example = 'metrics: { temperature: readings(60, 120) }'
    throw new AppError('VALIDATION', `checkRule has no generators of messages; set ${example}, or messages`)
  }
  const one = oneRule(rule)
  const resource = options.resource ?? (one && settingsOf(one).resource) ?? 'r1'
  const all = [metrics ?? {}, ...Object.values(byResource ?? {})].flatMap((values: Metrics) => Object.keys(values))
  const names = [...new Set(all)]
  const caseOptions = caseOptionsOf(options)
  const rules = [...(one === undefined ? [] : [one]), ...properties.flatMap(({ rules: others = [] }) => others)]
  const found = rules.map((each) => constantsOf(withSettings(each, caseOptions), names))
  const durations = [
    ...(options.durations ?? []),
    ...found.flatMap((constants) => constants.durations),
    ...properties.flatMap(({ durations: of = [] }) => of),
  ]
  return {
    ...options,
    metrics: metrics ?? {},
    resources: options.resources ?? [resource],
    durations: [...new Set(durations)],
    constants: Object.fromEntries(names.map((name) => [name, found.flatMap(({ values }) => values[name] ?? [])])),
    counts: [...new Set(found.flatMap(({ counts }) => counts))],
  }
}

type Values = Readonly<Record<string, unknown>>

function fixed(values: Values | undefined): Values | undefined {
  return values && Object.fromEntries(Object.entries(values).filter(([, value]) => !isArbitrary(value)))
}

function drawn(values: Values | undefined): Record<string, fc.Arbitrary<unknown>> | undefined {
  if (values === undefined) return undefined
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (isArbitrary(value) ? [[name, value] as const] : [])),
  )
}

function fixedMetadata(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([id, of]) => [id, isPlainObject(of) ? (fixed(of) ?? {}) : {}]),
  )
}

interface CrashDraw {
  /** position within the stream, 0 to 1 */
  readonly position: number
  readonly down: number
  readonly inFlight: boolean
}

const share = fc.integer({ min: 0, max: 1000 }).map((n) => n / 1000)

/** Generates one to four crashes; shrinks to fewer and earlier ones. */
export const crashDraws: fc.Arbitrary<readonly CrashDraw[]> = fc.array(
  fc.record({ position: share, down: share, inFlight: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
)

/** Places crashes in a stream of this many messages: at most one after each message, ascending. */
export function crashPoints(draws: readonly CrashDraw[], messages: number): readonly CrashPoint[] {
  if (messages === 0) return []
  const points = new Map<number, CrashPoint>()
  for (const { position, down, inFlight } of draws) {
    const after = 1 + Math.min(messages - 1, Math.floor(position * messages))
    if (!points.has(after)) points.set(after, { after, down, inFlight })
  }
  return [...points.values()].sort((a, b) => a.after - b.after)
}
