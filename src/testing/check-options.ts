/** What `checkRule` is told, and the cases that follow from it. */
import fc from 'fast-check'
import { generatorHere } from '#platform/generate'
import { Preparer, settingsOf } from '#core/spi'
import { createRegistry, type Message, type Plug, type Rule, type Template } from '#core'
import { AppError, isPlainObject } from '#kernel'
import { constantsOf } from './arbitraries/constants.ts'
import { crashDraws, crashPoints } from './arbitraries/crash-points.ts'
import { messageStreams, type Metrics, type StreamOptions } from './arbitraries/messages.ts'
import type { CaseOptions, Metadata, RunCase } from './checked-run.ts'
import { lengthOf } from './length-of.ts'
import type { RuleProperty } from './property.ts'
import { withSettings } from './write-case.ts'

export interface CheckOptions
  extends
    Omit<CaseOptions, 'tail' | 'generate' | 'variables' | 'metadata' | 'preparer' | 'patience'>,
    Partial<Omit<StreamOptions, 'resources' | 'byResource' | 'constants' | 'counts'>> {
  /** the plugs that rules may name; a function makes them anew for each engine, so that what they remember dies with it */
  readonly plugs: readonly Plug[] | (() => readonly Plug[])
  /** streams of one's own, instead of `metrics` and what goes with it */
  readonly messages?: fc.Arbitrary<readonly Message[]>
  /** who sends; default `resource`, else the resource of the rule's task */
  readonly resources?: NonNullable<StreamOptions['resources']>
  readonly byResource?: NonNullable<StreamOptions['byResource']>
  /** values, or generators of them, of which each case has one */
  readonly variables?: Readonly<Record<string, unknown>>
  /** by resource, values or generators of them */
  readonly metadata?: Metadata
  /** how long the clock runs on after the last message: ms, ISO 8601, or short; default an hour */
  readonly tail?: number | string
  /** how long, in real time, answers of plugs are waited for: ms or short as in `5s`; default 1 s */
  readonly patience?: number | string
  /**
   * cases that wait for their plugs at the same time, at most; default 32, and 1 for plugs that share something outside of
   * a case. Where plugs answer at once, one case runs after the other
   */
  readonly concurrency?: number
  /** how long to look for a failing case: ms or short as in `30s`; default 2 s, and without end when `numRuns` is given */
  readonly time?: number | string
  /** cases at most; default: as many as the time allows */
  readonly numRuns?: number
  /** from the message of a failure, to see the same cases again; default: another one each time */
  readonly seed?: number
  readonly path?: string
  /**
   * calls of plugs that may fail: all of them, or those of some nodes. Default false: only calls at messages that the
   * stream itself has spoilt, by NaN or a hole
   */
  readonly allowErrors?: boolean | readonly string[]
  /** default true: each case is also run as an engine runs live while nobody listens, and must do the same */
  readonly columnar?: boolean
  /** what must have been met, or the check fails as one that says nothing. Default: something fired. False: nothing must */
  readonly cover?: Cover | false
  /** default true; false: the first failing case is told as it is, not made smaller */
  readonly shrink?: boolean
  /** told the report as text when all holds, such as `console.log` */
  readonly print?: (text: string) => void
  /** where to write the smallest failing case: `failures/alarm` gives `failures/alarm.rule.json`, `.ndjson` and `.case.json` */
  readonly writeTo?: string
}

/** Shares of cases, 0 to 1, in which destinations must have fired; and whether all rows of gates, and all states, must have been met. */
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

/** The one rule of a check, undefined when each case has another. */
export function oneRule(rule: Checked): Rule | Template | undefined {
  return isArbitrary(rule) ? undefined : rule
}

/** How long to search, ms. Throws `VALIDATION`. */
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

/** The random cases of a check of these properties. */
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
    throw new AppError('VALIDATION', `checkRule does not know what the devices send; give ${example}, or messages`)
  }
  const one = oneRule(rule)
  const resource = options.resource ?? (one && settingsOf(one).resource) ?? 'r1'
  const all = [metrics ?? {}, ...Object.values(byResource ?? {})].flatMap((given: Metrics) => Object.keys(given))
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
