/** Performs one call of a plug, synchronously if it can; never throws, and removes secrets from the outcome. */
import { isPlainObject, redactedDeep, redacting } from '#kernel'
import type { NodeProperties } from '../graph/rule-properties.ts'
import type { Needs, Scope } from '../language/placeholders/scope.ts'
import { failedAnswer } from '../plug/call-error.ts'
import { finishProperties } from '../plug/properties.ts'
import type { Plug } from '../plug/plug.ts'
import { readAnswer, type Answer, type BadAnswer } from '../plug/result.ts'
import type { Ports } from '../ports.ts'
import { ownResourceFor, resourceFor, type TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { CallContext, NOTHING_FETCHED, type CallDependencies, type Fetched } from './call-context.ts'
import { secretName, withSecrets } from './secret-names.ts'

export interface Caller extends CallDependencies {
  readonly ports: Ports
  readonly dataVariables: readonly string[]
  /** Returns the snapshot, taken at firing, that an acting call sees; undefined: use the current task. */
  seenBy(execution: Execution): TaskRun | undefined
}

export type Fillable = Scope & { properties: Readonly<Record<string, unknown>>; prepared: unknown }

export type Outcome = Answer | BadAnswer

const MAX_LOOP_ITEMS = 10_000

export function callPlug(run: TaskRun, execution: Execution, caller: Caller): Outcome | Promise<Outcome> {
  try {
    const { needs } = execution.node.call
    const fetched = needs === undefined ? NOTHING_FETCHED : fetchNeeds(run, execution, caller, needs)
    if (isPromise(fetched)) return settle(fetched.then((data) => call(run, execution, caller, data)))
    return call(run, execution, caller, fetched)
  } catch (error) {
    return failedAnswer(error)
  }
}

export async function settle<T extends { readonly ok: boolean }>(outcome: PromiseLike<T>): Promise<T | BadAnswer> {
  try {
    return await outcome
  } catch (error) {
    return failedAnswer(error)
  }
}

function call(run: TaskRun, execution: Execution, caller: Caller, fetched: Fetched): Outcome | Promise<Outcome> {
  const { redact } = fetched
  if (redact === undefined) return made(run, execution, caller, fetched)
  try {
    const outcome = made(run, execution, caller, fetched)
    return isPromise(outcome) ? outcome.then((one) => redacted(one, redact)) : redacted(outcome, redact)
  } catch (error) {
    return redacted(failedAnswer(error), redact)
  }
}

function redacted(outcome: Outcome, redact: (text: string) => string): Outcome {
  if (!outcome.ok) return { ...outcome, error: redact(outcome.error) }
  const { rawData, internalState, message, then } = outcome
  return {
    ...outcome,
    rawData: redactedDeep(rawData, redact) as Answer['rawData'],
    internalState: redactedDeep(internalState, redact),
    message: message === undefined ? undefined : redact(message),
    then: then && (redacted(then, redact) as Answer),
  }
}

function made(run: TaskRun, execution: Execution, caller: Caller, fetched: Fetched): Outcome | Promise<Outcome> {
  const { plug, loop } = execution.node.call
  const context = new CallContext(caller.seenBy(execution) ?? run, execution, caller, fetched, run)
  if (loop !== undefined && execution.items === null) {
    // items are stored, so they refer to secrets by name instead of containing them
    const named = fetched.redact && new CallContext(run, execution, caller, withNames(fetched))
    const items = loopItems(loop.evaluate(named ?? context))
    if (items.length === 0) return readAnswer(plug, undefined)
    execution.items = items
  }
  const properties = run.model.properties.of(execution.node.call)
  const refused = fillProperties(properties, context, renderedOf(execution, fetched, properties, context))
  if (refused !== undefined) return refused
  const result = plug.execute(context)
  if (isPromise(result)) {
    context.outlasts()
    if (execution.node.kind === 'actuator') context.freeze()
  }
  return outcomeOf(plug, result)
}

function withNames(fetched: Fetched): Fetched {
  return { ...fetched, secrets: new Map([...(fetched.secrets ?? [])].map(([key]) => [key, secretName(key)])) }
}

/** Returns the properties created at firing, or those for the loop's item; undefined: they must be created now. */
function renderedOf(
  { rendered, items, item }: Execution,
  { secrets, redact }: Fetched,
  { compiled }: NodeProperties,
  context: CallContext,
): Record<string, unknown> | undefined {
  const isOfLoop = items !== null && redact !== undefined
  const properties = rendered?.[item] ?? (isOfLoop ? compiled.evaluate(context) : undefined)
  if (properties === undefined) return undefined
  return secrets === undefined || secrets.size === 0 ? properties : withSecrets(properties, secrets, compiled.uses)
}

export function outcomeOf(plug: Plug, result: unknown): Outcome | Promise<Outcome> {
  if (!isPromise(result)) return readAnswer(plug, result)
  const read = (answer: unknown): Outcome => readAnswer(plug, answer)
  return result instanceof Promise ? result.then(read, failedAnswer) : settle(Promise.resolve(result).then(read))
}

export function fillProperties(
  node: NodeProperties,
  context: Fillable,
  rendered?: Readonly<Record<string, unknown>>,
): BadAnswer | undefined {
  const { plug, compiled, constant, prepared, recent } = node
  if (constant !== undefined) {
    context.properties = constant
    context.prepared = prepared
    return undefined
  }
  const finished = finishProperties(plug, rendered ?? compiled.evaluate(context))
  if (finished.problems) {
    return { ok: false, error: finished.problems.map((one) => `${one.property}: ${one.message}`).join('; ') }
  }
  context.properties = finished.properties
  context.prepared = recent?.prepare(finished.properties)
  return undefined
}

export function loopItems(value: unknown): readonly unknown[] {
  const items: unknown = typeof value === 'string' ? parseItems(value) : value
  if (!Array.isArray(items) || !items.every(isPlainObject)) {
    throw new TypeError('loopDef is not a JSON array of objects; write an array such as [{"id": 1}, {"id": 2}]')
  }
  if (items.length > MAX_LOOP_ITEMS)
    throw new RangeError(`loopDef has ${items.length} items, at most ${MAX_LOOP_ITEMS} are run`)
  return items
}

function parseItems(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

export function fetchNeeds(
  run: TaskRun,
  execution: Execution,
  caller: Caller,
  needs: Needs,
): Fetched | PromiseLike<Fetched> {
  const wanted = questions(run, execution, caller, needs)
  if (wanted.length === 0) return NOTHING_FETCHED
  const answers = wanted.map(({ load }) => load())
  if (!answers.some(isPromise)) return collect(wanted, answers)
  return Promise.all(answers).then((values) => collect(wanted, values))
}

export function needsPorts(run: TaskRun, execution: Execution, caller: Caller, needs: Needs): boolean {
  return questions(run, execution, caller, needs).length > 0
}

interface Question {
  readonly kind: 'taskMetadata' | 'nodeMetadata' | 'secret' | 'variable'
  readonly name: string
  load(): unknown
}

function questions(run: TaskRun, execution: Execution, caller: Caller, needs: Needs): readonly Question[] {
  const { ports } = caller
  const taskResource = ownResourceFor(run, execution)
  const nodeResource = resourceFor(run, execution) ?? taskResource
  const list: Question[] = []
  if (needs.taskMetadata && taskResource !== undefined) {
    list.push({ kind: 'taskMetadata', name: '', load: () => ports.metadata?.(taskResource) })
  }
  if (needs.nodeMetadata && nodeResource !== undefined) {
    list.push({ kind: 'nodeMetadata', name: '', load: () => ports.metadata?.(nodeResource) })
  }
  for (const name of needs.secrets) list.push({ kind: 'secret', name, load: () => ports.secret?.(name) })
  for (const name of needs.variables) {
    if (nodeResource === undefined || !caller.dataVariables.includes(name)) continue
    list.push({ kind: 'variable', name, load: () => ports.latestValue?.(nodeResource, name) })
  }
  return list
}

function collect(wanted: readonly Question[], answers: readonly unknown[]): Fetched {
  const secrets = new Map<string, unknown>()
  const variables = new Map<string, unknown>()
  let taskMetadata: unknown
  let nodeMetadata: unknown
  for (const [i, { kind, name }] of wanted.entries()) {
    const answer = answers[i]
    if (kind === 'taskMetadata') taskMetadata = answer
    else if (kind === 'nodeMetadata') nodeMetadata = answer
    else (kind === 'secret' ? secrets : variables).set(name, answer)
  }
  const values = [...secrets.values()].filter((value) => typeof value === 'string')
  return { taskMetadata, nodeMetadata, secrets, variables, ...(values.length > 0 && { redact: redacting(values) }) }
}
