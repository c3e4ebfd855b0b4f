/** Executes work that stores nothing: small work in the current thread, larger work in another if available. */
import { type CheckOptions, findVariables, type FoundVariable, type ValidatedTemplate } from '#core/spi'
import {
  nextRuns,
  type NextRuns,
  type NextRunsOptions,
  type Rule,
  type Template,
  validateRule,
  validateTemplate,
} from '#core'
import { type AppError, isPlainObject, makeIssue, refuse, weighsMore } from '#kernel'
import { readBody } from '#services/shared'
import { rehearsePart, type RehearsalContext, type RehearsalPart } from '../rehearsals/rehearsal-run.ts'
import type { RehearsalHistory } from '../rehearsals/rehearsal-history.ts'
import type { RehearsalWork } from '../rehearsals/rehearsal-work.ts'
import { callOnce } from './plug-call.ts'
import { onePlug } from './plug-entity.ts'
import { simulateRequest } from './simulation.ts'
import { graphOf, runTemplate, type RunSource } from './template-run.ts'
import {
  PlugCall,
  Simulation,
  TemplateRun,
  type InvocationReport,
  type PlugCause,
  type PlugFamily,
  type PlugOutcome,
  type SimulationResult,
  type TemplateRunOptions,
} from './tools-schema.ts'

export type StoredTemplate = (name: string) => Promise<Template | Rule>

export interface DocumentCheck extends CheckOptions {
  /** default: template */
  readonly as?: 'rule' | 'template'
}

/** Bodies are unchecked. Bytes contain JSON, which is parsed in the thread that does the work. */
export interface DirectRuns {
  /** A result as bytes contains JSON, which is serialized in the thread that does the work. */
  simulate(stored: StoredTemplate, input: unknown): Promise<SimulationResult | Uint8Array>
  run(stored: RunSource | undefined, input: unknown, options: TemplateRunOptions): AsyncIterable<InvocationReport>
  call(
    family: PlugFamily,
    name: string,
    version: string | undefined,
    input: unknown,
    cause?: PlugCause,
  ): Promise<PlugOutcome>
  rehearse(work: RehearsalWork, history: RehearsalHistory, signal?: AbortSignal): Promise<RehearsalPart>
  /** A rule is only checked: `template` is absent. */
  check(specification: unknown, options: DocumentCheck): Promise<ValidatedTemplate>
  variables(graph: unknown): Promise<readonly FoundVariable[]>
  nextRuns(expression: string, options: NextRunsOptions): Promise<NextRuns>
}

export interface RunsElsewhere extends DirectRuns {
  readonly onlyHere: () => readonly string[]
  /** Counts work of the current thread toward the same budget. Throws `RATE_LIMITED` beyond the budget. */
  readonly counted: <T>(work: () => T) => T
}

export type CountedByDocument = <T>(document: unknown, work: () => T) => T

export function countedByDocument(elsewhere: RunsElsewhere | undefined): CountedByDocument {
  return (document, work) =>
    elsewhere === undefined || !weighsMore(document, SMALL_CHECK) ? work() : elsewhere.counted(work)
}

export function runsHere(context: RehearsalContext): DirectRuns {
  const { registry, ports, now } = context
  return {
    simulate: async (stored, input) => {
      const request = Simulation.read(readBody(input))
      return simulateRequest(context, (await ruleOf(stored, request)) ?? {}, request)
    },
    run: (stored, input, options) => {
      const run = TemplateRun.read(readBody(input) ?? {})
      if (stored !== undefined && run.graph !== undefined) throw twoGraphs(stored)
      return runTemplate(context, stored ?? { document: graphOf(run, registry) }, run, options)
    },
    call: async (family, name, version, input, cause) => {
      const plug = onePlug(registry.list(), family, name, version)
      return callOnce(plug, PlugCall.read(readBody(input) ?? {}), ports, now(), cause)
    },
    rehearse: (work, history, signal) => rehearsePart(context, work, history, signal),
    check: async (specification, { as, ...options }) =>
      as === 'rule'
        ? { template: undefined, issues: validateRule(specification, registry, options).issues }
        : validateTemplate(specification, registry, options),
    variables: async (graph) => findVariables(readBody(graph)),
    nextRuns: async (expression, options) => nextRuns(expression, options),
  }
}

async function ruleOf(stored: StoredTemplate, simulation: unknown): Promise<Rule | Template | undefined> {
  const { rule, template } = isPlainObject(simulation) ? simulation : {}
  if (typeof template === 'string') return stored(template)
  return isPlainObject(rule) ? rule : undefined
}

function twoGraphs({ owner }: RunSource): AppError {
  const message = `there is a graph, but ${owner ?? 'a stored template'} is to be run`
  const suggestion = 'omit graph, or omit the name of the template in the URL'
  return refuse('the run', [makeIssue('FIELD', '/graph', message, suggestion)])
}

/** Limits for bodies that take less than 5 ms to read and run, in characters and values. */
const SMALL_RUN = 2_000
const SMALL_CHECK = 10_000
/** Maximum ms of virtual time in which timers cause little work. */
const SHORT_MS = 60_000
const FEW_RUNS = 1_000

export function runsBySize(here: DirectRuns, elsewhere: RunsElsewhere): DirectRuns {
  const at = (isSmall: boolean, ...documents: readonly unknown[]): DirectRuns => {
    const names = elsewhere.onlyHere()
    const isHere =
      isSmall || (names.length > 0 && someText(documents, (text) => names.some((name) => text.includes(name))))
    return isHere ? here : elsewhere
  }
  /** Bytes may name a plug that exists only in the current thread, so they are parsed first if any such plug exists. */
  const taken = (input: unknown): unknown => (elsewhere.onlyHere().length === 0 ? input : readBody(input))
  return {
    simulate: async (stored, input) => {
      const body = taken(input)
      if (body instanceof Uint8Array) return elsewhere.simulate(stored, body)
      const rule = await ruleOf(stored, body)
      return at(isSmallRun([rule, body]) && isShort(body), rule).simulate(stored, body)
    },
    run: (stored, input, options) => {
      const body = taken(input)
      const graph = isPlainObject(body) ? body['graph'] : undefined
      return at(isSmallRun([stored, body]), stored?.document, graph).run(stored, body, options)
    },
    call: (family, name, version, input, cause) =>
      at(isSmallRun(input), name).call(family, name, version, input, cause),
    // even a small request may read a lot of data
    rehearse: (work, history, signal) => at(false, [work.rule, work.compareWith]).rehearse(work, history, signal),
    check: (specification, options) =>
      at(!weighsMore(specification, SMALL_CHECK), specification).check(specification, options),
    variables: (graph) => at(!weighsMore(graph, SMALL_CHECK)).variables(graph),
    nextRuns: (expression, options) =>
      at((options.count ?? 0) <= FEW_RUNS && expression.length <= SMALL_RUN).nextRuns(expression, options),
  }
}

/** Returns whether a run is small. Templates with blocks are not, since they may loop for long over little input. */
function isSmallRun(input: unknown): boolean {
  return !weighsMore(input, SMALL_RUN) && !someText(input, (text) => text.includes('{{#'))
}

function isShort(input: unknown): boolean {
  if (!isPlainObject(input)) return true
  const { from, until, messages } = input
  const times = Array.isArray(messages)
    ? messages.map((one) => (isPlainObject(one) ? one['timestamp'] : undefined))
    : []
  const known = [from, until, ...times].filter((time) => time !== undefined)
  const span = known.map((time) => (typeof time === 'string' ? Date.parse(time) : Number(time)))
  return known.length === 0 || Math.max(...span) - Math.min(...span) <= SHORT_MS
}

function someText(value: unknown, fits: (text: string) => boolean): boolean {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' ? fits(next) : false) return true
    if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) open.push(part)
  }
  return false
}
