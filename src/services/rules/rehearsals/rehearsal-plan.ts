/** Reads the request of a rehearsal: rules, resources, times and variants. Reports all problems at once. */
import { type Rule, type TaskSettings, type Template, validateTemplate } from '#core'
import { applyOverrides, type Graph, isBnDocument, Report, resolveResources, sweepVariants } from '#core/spi'
import { AppError, at, type Issue, makeIssue, movedTo, refuse, stepsOf, validationError } from '#kernel'
import { taskOf } from '../tasks/task-service.ts'
import { runnable } from '../tasks/task-maker.ts'
import { withResources } from '../tasks/resource-filter.ts'
import { type Input, messagesOf } from '../durable/input.ts'
import type { KeptPast } from '../inputs/contract.ts'
import { readingTime } from '../inputs/select-input.ts'
import type { RunnableTask } from '../runner.ts'
import type { TenantRules } from '../tenant-rules.ts'
import type { RehearsalHistory } from './rehearsal-history.ts'
import {
  DEFAULT_EVENTS,
  MAX_LISTED,
  MAX_RESOURCES,
  RehearsalRequest,
  ReplayRequest,
  type ReadRequest,
  timeAt,
} from './rehearsal-schema.ts'
import type { RehearsalWork, RehearsedRule } from './rehearsal-work.ts'
import type { SweepCombination } from './rehearsal-sum.ts'

export interface RehearsalPlan {
  readonly work: RehearsalWork
  readonly sweep: readonly SweepCombination[] | undefined
  readonly task: string | undefined
  readonly showsEvents: boolean
  /** of a replay, epoch ms */
  readonly keptSince: number | undefined
}

interface ReadRule extends RehearsedRule {
  readonly graph: Graph
  readonly resource: string | undefined
  /** undefined: a node is bound to the resource of the task, which is unknown */
  readonly bound: readonly string[] | undefined
  /** the stored task, if the rule is that of a task */
  readonly task: RunnableTask | undefined
}

const DEFAULT_SPAN_MS = 7 * 86_400_000

export async function planRehearsal(
  rules: TenantRules,
  history: RehearsalHistory,
  body: unknown,
): Promise<RehearsalPlan> {
  const request = RehearsalRequest.read(body)
  const now = rules.options.now()
  const issues: Issue[] = []
  const attempt = async <T>(read: () => T | Promise<T>, path: (path: string) => string): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof AppError) || error.issues.length === 0) throw error
      issues.push(...error.issues.map((issue) => movedTo(issue, path(issue.path))))
      return undefined
    }
  }
  const rule = await attempt(
    () => readRule(rules, request, { ...request.settings, ...variablesOf(request) }),
    (path) => placeOfSettings(request, path),
  )
  const { compareWith } = request
  const other =
    compareWith &&
    (await attempt(
      () => readRule(rules, compareWith, {}),
      (path) => `/compareWith${placeOfSettings(compareWith, path)}`,
    ))
  const range = await attempt(
    () => rangeOf(request.source, now),
    (path) => path,
  )
  const combined =
    rule &&
    request.sweep &&
    (await attempt(
      () => combinations(rules, rule, request),
      (path) => path,
    ))
  const resources =
    rule &&
    (await attempt(
      () => resourcesOf(rules, history, request, rule),
      (path) => path,
    ))
  const kept = rules.options.kept?.()
  issues.push(...conflictsWith(request, kept !== undefined))
  if (issues.length > 0 || rule === undefined || range === undefined || resources === undefined)
    throw refuse('the rehearsal', issues)
  const { events } = request
  return {
    work: {
      rule: { document: rule.document, settings: rule.settings },
      compareWith: other && { document: other.document, settings: other.settings },
      variants: combined?.variants ?? [],
      resources,
      messages: request.source.messages,
      ...range,
      seed: request.seed ?? 1,
      calls: request.calls ?? 'none',
      order: request.order,
      initialState: initialStateOf(request, kept),
      ...(await liveOf(rule, kept)),
      edit: undefined,
      eventTypes: events?.types ?? ['fired'],
      most: MAX_LISTED,
      mostEvents: events?.limit ?? DEFAULT_EVENTS,
    },
    sweep: combined?.sweep,
    task: request.task,
    showsEvents: events !== undefined,
    keptSince: undefined,
  }
}

async function liveOf({ task }: ReadRule, kept: KeptPast | undefined): Promise<Pick<RehearsalWork, 'live' | 'limits'>> {
  return { live: task && { task, later: (await kept?.later()) ?? [] }, limits: kept?.limits ?? {} }
}

/** Throws `NOT_FOUND` if the input is not kept. */
export async function planReplay(rules: TenantRules, id: string, body: unknown): Promise<RehearsalPlan> {
  const { at: position, message } = ReplayRequest.read(body)
  const rule = await readRule(rules, { task: id }, {})
  const kept = rules.options.kept?.()
  if (kept === undefined) throw new AppError('NOT_FOUND', 'This host does not keep inputs, because of --keep-inputs 0')
  const found = await inputAt(kept, rule, position)
  const time = timeOf(found)
  const { document, settings } = rule
  const work: RehearsalWork = {
    rule: { document, settings },
    compareWith: { document, settings },
    variants: [],
    resources: [rule.resource],
    messages: undefined,
    from: time,
    until: Math.max(rules.options.now(), found.at),
    seed: 1,
    calls: 'recorded',
    order: 'lived',
    initialState: 'warm',
    eventTypes: ['fired'],
    most: MAX_LISTED,
    mostEvents: DEFAULT_EVENTS,
    ...(await liveOf(rule, kept)),
    edit: { position, input: message && messageInstead(found, message) },
  }
  const keptSince = (await kept.inputs.since())?.at
  return { work, sweep: undefined, task: id, showsEvents: false, keptSince }
}

async function inputAt({ inputs }: KeptPast, { task, bound = [] }: ReadRule, position: number): Promise<Editable> {
  const { id = '' } = task ?? {}
  for await (const batch of inputs.read({ after: position - 1, upTo: position, resources: bound, tasks: [id] })) {
    const input = batch[0]?.input
    if (input?.k === 'data' || input?.k === 'push' || input?.k === 'command') return input
  }
  const since = await inputs.since()
  const text = `Position ${position} is not a kept message, push or command of task ${id}`
  throw new AppError('NOT_FOUND', `${text}; inputs are kept from position ${since?.position ?? 0}`)
}

type Editable = Extract<Input, { k: 'data' | 'push' | 'command' }>

function timeOf(input: Editable): number {
  if (input.k !== 'data') return input.at
  return Math.min(...messagesOf(input.m).map((message) => readingTime(message, input.at)))
}

function messageInstead(input: Editable, given: Readonly<Record<string, unknown>>): Input {
  if (input.k !== 'data') return { k: 'data', at: input.at, m: { resource: '', ...given } }
  const { u: unstamped, m, ...rest } = input
  const { resource = '', timestamp = input.at } = messagesOf(m)[0] ?? {}
  const isStamped = given['timestamp'] !== undefined || unstamped === undefined
  return { ...rest, m: { resource, timestamp, ...given }, ...(!isStamped && { u: [0] }) }
}

function initialStateOf(
  { task, resources, compareWith, order, source, initialState }: ReadRequest,
  kept: KeptPast | undefined,
): 'cold' | 'warm' {
  if (initialState !== undefined) return initialState
  const isOfTask = task !== undefined && resources === undefined && compareWith === undefined
  return isOfTask && kept !== undefined && order !== 'time' && source.messages === undefined ? 'warm' : 'cold'
}

/** Returns what contradicts the source of the messages. */
function conflictsWith(
  { task, resources, order, source, initialState, calls }: ReadRequest,
  keepsInputs: boolean,
): readonly Issue[] {
  const needs = [
    ['/order', order === 'lived', 'lived', 'time'],
    ['/initialState', initialState === 'warm', 'warm', 'cold'],
    ['/calls', calls === 'recorded', 'recorded', 'none'],
  ] as const
  return needs.flatMap(([path, isGiven, value, other]): readonly Issue[] => {
    if (!isGiven) return []
    const isOfTask = task !== undefined && resources === undefined
    const what = !keepsInputs
      ? 'kept inputs, which this host does not keep'
      : source.messages !== undefined
        ? 'kept inputs, but the messages are in the request'
        : path === '/order' || (isOfTask && order !== 'time')
          ? undefined
          : isOfTask
            ? 'the order lived'
            : 'a task with its own resources'
    return what === undefined ? [] : [makeIssue('FIELD', path, `${value} needs ${what}`, `use ${other}`)]
  })
}

type Side = Pick<ReadRequest, 'rule' | 'template' | 'templateVersion' | 'task'>

function variablesOf({ settings, variables }: ReadRequest): Pick<TaskSettings, 'variables'> {
  return variables === undefined ? {} : { variables: { ...settings?.variables, ...variables } }
}

function placeOfSettings({ rule }: Side, path: string): string {
  if (rule !== undefined) return `/rule${path}`
  const [first = ''] = stepsOf(path)
  return ['template', 'templateVersion', 'task', 'variables'].includes(first) ? path : `/settings${path}`
}

async function readRule(rules: TenantRules, side: Side, given: TaskSettings): Promise<ReadRule> {
  const { maker, context } = rules
  const { settings, source, rule, prepared, task } = await (async () => {
    if (side.task !== undefined) {
      const record = await taskOf(rules, side.task)
      const parts = await maker.parts(record)
      const changed = { ...parts, settings: merged(parts.settings, given) }
      const task = runnable(record.id, record.epoch, record.createTime, parts)
      return { ...changed, prepared: maker.prepare(changed), task }
    }
    const { template, templateVersion, rule: document } = side
    if (document !== undefined && isTemplate(document)) {
      const read = validateTemplate(document, maker.plugs)
      if (read.template === undefined) throw validationError('the template', read.issues)
      const settings = merged(NAMED, given)
      const parts = { source: { id: '', document: read.template }, rule: undefined, settings }
      return { ...parts, prepared: maker.prepare(parts), task: undefined }
    }
    const draft = await maker.make(
      document === undefined
        ? { ...NAMED, ...given, template, ...(templateVersion !== undefined && { templateVersion }) }
        : withSettings(document, given),
      {},
      undefined,
      true,
    )
    const { settings: own, rule: read } = draft.fields
    return { settings: own, source: draft.source, rule: read, prepared: draft.prepared, task: undefined }
  })()
  const bound = await resolveResources('task', prepared, context.ports).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'RESOLUTION') return undefined
    throw error
  })
  return {
    document: source?.document ?? rule ?? {},
    settings,
    graph: prepared.graph,
    resource: prepared.resource,
    bound,
    task,
  }
}

/** Returns whether a document is a template: templates have their name next to their nodes. */
function isTemplate(document: Readonly<Record<string, unknown>>): boolean {
  return typeof document['name'] === 'string' && !Object.hasOwn(document, 'task') && !isBnDocument(document)
}

/** Names the task of a rehearsed rule, which is never created. */
const NAMED: TaskSettings = { name: 'rehearsal' }

function withSettings(document: Readonly<Record<string, unknown>>, given: TaskSettings): object {
  // in the old form, the graph is part of the settings
  if (Object.hasOwn(document, 'network')) return merged({ ...NAMED, ...document }, given)
  return { ...document, task: merged({ ...NAMED, ...(document['task'] as TaskSettings | undefined) }, given) }
}

function merged(own: TaskSettings, given: TaskSettings): TaskSettings {
  const { variables, nodes, ...rest } = given
  return {
    ...own,
    ...rest,
    ...(variables && { variables: { ...own.variables, ...variables } }),
    ...(nodes && { nodes: [...(own.nodes ?? []), ...nodes] }),
  }
}

function rangeOf({ from, until, messages }: ReadRequest['source'], now: number): { from: number; until: number } {
  const times = messages?.map(({ timestamp }) => timeAt(timestamp ?? Number.NaN, now)) ?? []
  const known = times.filter((time) => Number.isFinite(time))
  const wrong = times.findIndex((time) => !Number.isFinite(time))
  if (wrong !== -1) {
    const text = 'is not a valid time'
    const place = at('/source/messages', wrong, 'timestamp')
    throw refuse('the rehearsal', [makeIssue('TYPE', place, text, 'write epoch milliseconds or ISO 8601')])
  }
  const end = until === undefined ? (known.length > 0 ? Math.max(...known) : now) : timeAt(until, now)
  const first = known.length > 0 ? Math.min(known[0] ?? end, end) : end - DEFAULT_SPAN_MS
  const begin = from === undefined ? first : timeAt(from, now)
  if (begin <= end) return { from: begin, until: end }
  const message = `${new Date(begin).toISOString()} is after until, which is ${new Date(end).toISOString()}`
  throw refuse('the rehearsal', [makeIssue('RANGE', '/source/from', message, 'use an earlier time')])
}

interface Combinations {
  readonly variants: readonly RehearsedRule[]
  readonly sweep: readonly SweepCombination[]
}

function combinations({ context }: TenantRules, rule: ReadRule, { sweep = {} }: ReadRequest): Combinations {
  const base = withSettingsInside(rule)
  const variants: RehearsedRule[] = []
  const found = sweepVariants(base.document, sweep, context.registry, '/sweep')
  const combined = found.map(({ values, rule: document, issues }): SweepCombination => {
    const issue = issues[0] ?? inversion(base.document, document)
    if (issues.length > 0) return { values, variant: undefined, issue }
    variants.push({ document, settings: base.settings })
    return { values, variant: variants.length - 1, issue }
  })
  return { variants, sweep: combined }
}

/** Moves the settings into the document, where variants may change them. */
function withSettingsInside({ document, settings }: RehearsedRule): RehearsedRule {
  const { nodes = [], name, resource, tags: _tags, start: _start, ...rest } = settings
  const graph = applyOverrides(document, nodes, '/nodes', new Report())
  const kept = { ...(name !== undefined && { name }), ...(resource !== undefined && { resource }) }
  const inside =
    'name' in document
      ? { ...document, ...graph, taskDefaults: merged(document.taskDefaults ?? {}, rest) }
      : { ...graph, task: merged(document.task ?? {}, rest) }
  return { document: inside, settings: kept }
}

function inversion(before: Rule | Template, after: Rule | Template): Issue | undefined {
  for (const [i, { label, properties = {} }] of (after.sensors ?? []).entries()) {
    const direction = directionOf(before.sensors?.[i]?.properties)
    if (direction === 0 || directionOf(properties) === direction || directionOf(properties) === 0) continue
    const [enter, leave] = [properties['enter'], properties['leave']]
    const message = `${label} is inverted: enter ${String(enter)} and leave ${String(leave)}`
    const suggestion = `keep enter ${direction > 0 ? 'above' : 'below'} leave`
    return { ...makeIssue('SWEEP', at('/sensors', i, 'properties', 'leave'), message, suggestion), severity: 'WARNING' }
  }
  return undefined
}

function directionOf(properties: Readonly<Record<string, unknown>> = {}): number {
  const { enter, leave } = properties
  return typeof enter === 'number' && typeof leave === 'number' ? Math.sign(enter - leave) : 0
}

/** Throws `VALIDATION` for unknown resources, or if none are known; `TOO_LARGE` above 10,000. */
async function resourcesOf(
  rules: TenantRules,
  history: RehearsalHistory,
  { resources, source, task }: ReadRequest,
  { resource, bound }: ReadRule,
): Promise<readonly (string | undefined)[]> {
  const place = '/resources'
  if (Array.isArray(resources)) {
    const ids = [...new Set(resources as readonly string[])]
    if (source.messages === undefined) await requireKnown(rules, history, ids)
    return ids
  }
  if (resources !== undefined) {
    const { resourceTypeId, query } = resources as { readonly resourceTypeId?: string; readonly query?: string }
    if (resourceTypeId === undefined && query === undefined)
      throw refuse('the rehearsal', [makeIssue('FIELD', place, 'is empty', 'use resourceTypeId, query, or a list')])
    const found = await withResources(
      {
        ...(resourceTypeId !== undefined && { resourceType: resourceTypeId }),
        ...(query !== undefined && { resourceMetadataExpression: query }),
      },
      rules,
      place,
    )
    const ids = found.resources ?? []
    if (ids.length > 0) return ids
    throw refuse('the rehearsal', [makeIssue('RESOURCE', place, 'no resource matches', 'use another type or query')])
  }
  if (resource !== undefined) return [resource]
  if (bound !== undefined) return [undefined]
  const named = new Set(source.messages?.map((message) => message.resource))
  if (named.size > MAX_RESOURCES)
    throw new AppError('TOO_LARGE', `the messages have ${named.size} resources, more than ${MAX_RESOURCES}`)
  if (named.size > 0) return [...named]
  const message = `are missing: the ${task === undefined ? 'rule' : 'task'} has nodes with the resource of its task`
  throw refuse('the rehearsal', [makeIssue('RESOURCE', place, message, 'list ids, a resourceTypeId or a query')])
}

const MAX_UNKNOWN = 20

async function requireKnown(
  { context }: TenantRules,
  history: RehearsalHistory,
  ids: readonly string[],
): Promise<void> {
  const issues: Issue[] = []
  for (const [i, resource] of ids.entries()) {
    if (issues.length === MAX_UNKNOWN) break
    if ((await context.ports.metadata?.(resource)) !== undefined) continue
    if ((await history.metrics(resource)).length > 0) continue
    const message = `resource ${JSON.stringify(resource)} does not exist and has no data`
    issues.push(makeIssue('RESOURCE', at('/resources', i), message, 'use the id of a resource with data'))
  }
  if (issues.length > 0) throw refuse('the rehearsal', issues)
}
