/** Runs a template, or one of its nodes, over the data of a request. Stores nothing. */
import { type Prepared, Preparer, type RuleGraph } from '#core/spi'
import {
  type EngineEvent,
  type PlugRegistry,
  type Ports,
  type Rule,
  type TaskSettings,
  type Template,
  validateRule,
  validateTemplate,
} from '#core'
import { AppError, isPlainObject, movedTo, validationError } from '#kernel'
import { machineTimers } from '#platform'
import { debugRule, type DebugRule, GO } from './debug-rule.ts'
import { dryPlugs } from './dry-plugs.ts'
import { inRequest } from '../tasks/request-issues.ts'
import { invocationReport, nodesLeadingTo } from './run-report.ts'
import type { InvocationReport, TemplateRun, TemplateRunOptions } from './tools-schema.ts'
import { VirtualRun } from './virtual-run.ts'

export interface RunDependencies {
  readonly registry: PlugRegistry
  readonly ports: Ports
  readonly now: () => number
}

/** ms of virtual time for cascades after the last message */
const AFTER_MS = 60_000
const SECOND_MS = 1000

export interface RunSource {
  readonly document: Template | Rule
  readonly owner?: string
}

export async function* runTemplate(
  context: RunDependencies,
  source: RunSource,
  run: TemplateRun,
  options: TemplateRunOptions,
): AsyncGenerator<InvocationReport> {
  const { conf = {}, data, nodesRawData = {} } = run
  const from = data?.[0]?.[0]?.timestamp ?? context.now()
  const settings = settingsOf(run, options, from)
  const { rule, resource } = prepare(context, source, settings)
  const debugged =
    options.nodeToDebug === undefined ? undefined : debugRule(rule, options.nodeToDebug, resourcesOf(data ?? []))
  const events: EngineEvent[] = []
  const spared = new Set<string>()
  const plugs = conf.executeActuators === true ? context.registry.list() : dryPlugs(context.registry.list(), spared)
  const virtual = new VirtualRun(...whatStarts(source.document, settings, debugged), {
    plugs: debugged ? [...plugs, GO] : plugs,
    ports: context.ports,
    metadata: metadataOf(run, resource),
    from: settings.type === 'scheduled' ? from - SECOND_MS : from,
    onEvent: (event) => {
      if (!isOf(event, debugged?.starters)) events.push(event)
    },
    ...(options.signal && { signal: options.signal }),
  })
  try {
    const task = await virtual.start()
    const { targetNode } = options
    if (targetNode !== undefined) task.node(targetNode)
    for (const [label, rawData] of Object.entries(nodesRawData)) task.push(label, { rawData })
    const labels = reportedLabels(rule, options)
    const report = (invocation: number): InvocationReport => {
      const reported = events.splice(0)
      const simulated = new Set(spared)
      spared.clear()
      return invocationReport(rule, reported, { invocation, labels, logLevel: options.logLevel ?? 'INFO', simulated })
    }
    if (debugged && data === undefined) for (const starter of debugged.starters) task.run(starter)
    await virtual.advanceTo(from)
    if (data === undefined) {
      await cascade(virtual)
      yield report(1)
      return
    }
    for (const [i, messages] of data.entries()) {
      if (options.signal?.aborted === true) return
      await virtual.advanceTo(messages[0]?.timestamp ?? virtual.now)
      virtual.receive(messages)
      await virtual.advanceTo(virtual.now)
      if (i === data.length - 1) await cascade(virtual)
      yield report(i + 1)
      if (options.maxTps !== undefined && i < data.length - 1) await pause(1000 / options.maxTps, options.signal)
    }
  } finally {
    await virtual.close()
  }
}

function settingsOf(run: TemplateRun, options: TemplateRunOptions, from: number): TaskSettings {
  const { conf = {}, variables, nodes } = run
  const { resource, resetObservations, gatesNeedFullObservation } = conf
  return {
    name: 'run',
    ...clockOf(run, options, from),
    ...(resource !== undefined && { resource }),
    ...(resetObservations !== undefined && { resetObservations }),
    ...(gatesNeedFullObservation !== undefined && { gatesNeedFullObservation }),
    ...(variables && { variables }),
    ...(nodes && { nodes }),
  }
}

/** A onetime task would tick before its nodes have raw data, so a schedule makes the tick slightly later. */
function clockOf(
  { data, nodesRawData = {} }: TemplateRun,
  { nodeToDebug }: TemplateRunOptions,
  from: number,
): TaskSettings {
  if (data !== undefined || nodeToDebug !== undefined) return { type: 'reactive' }
  if (Object.keys(nodesRawData).length === 0) return { type: 'onetime' }
  const start = `${new Date(from).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
  return { type: 'scheduled', rrule: `DTSTART:${start}\nRRULE:FREQ=DAILY;COUNT=1` }
}

function prepare({ registry }: RunDependencies, { document, owner }: RunSource, settings: TaskSettings): Prepared {
  try {
    return new Preparer(registry).prepare(document, settings)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION') throw error
    const ownerPath = owner === undefined ? '/graph' : ''
    const request = { settings, at: '', stored: document, owner, ownerPath }
    throw validationError(
      'the run',
      error.issues.map((issue) => inRequest(issue, request)),
    )
  }
}

/** A rule for one node already includes the overrides, which no longer match its triggers. */
function whatStarts(
  document: Template | Rule,
  settings: TaskSettings,
  debugged: DebugRule | undefined,
): [Template | Rule, TaskSettings] {
  if (debugged === undefined) return [document, settings]
  const { task, taskDefaults }: Partial<Rule & Template> = document
  const { nodes: _nodes, ...others } = settings
  return [
    {
      ...document,
      ...debugged.graph,
      ...(task && { task: withoutNodes(task) }),
      ...(taskDefaults && { taskDefaults: withoutNodes(taskDefaults) }),
    },
    others,
  ]
}

function withoutNodes({ nodes: _nodes, ...settings }: TaskSettings): TaskSettings {
  return settings
}

function isOf(event: EngineEvent, starters: ReadonlySet<string> | undefined): boolean {
  if (starters === undefined) return false
  const source = 'source' in event ? event.source : undefined
  return starters.has(event.node ?? '') || starters.has(source ?? '')
}

const MAX_RESOURCES = 1000

function resourcesOf(data: NonNullable<TemplateRun['data']>): readonly string[] {
  const resources = new Set(data.flatMap((messages) => messages.map(({ resource }) => resource)))
  if (resources.size <= MAX_RESOURCES) return [...resources]
  const text = `/data <- it has messages of ${resources.size} resources; debug a node with at most ${MAX_RESOURCES}`
  throw new AppError('TOO_LARGE', text)
}

/** Runs delays and retries that come due shortly after the last message. */
async function cascade(virtual: VirtualRun): Promise<void> {
  const end = virtual.now + AFTER_MS
  for (let at = virtual.nextAt(); at !== undefined && at <= end; at = virtual.nextAt()) await virtual.advanceTo(at)
}

function reportedLabels(graph: RuleGraph, { nodeToDebug, targetNode }: TemplateRunOptions): ReadonlySet<string> {
  if (nodeToDebug !== undefined) return new Set([nodeToDebug])
  if (targetNode !== undefined) return nodesLeadingTo(graph, targetNode)
  return new Set([...(graph.sensors ?? []), ...(graph.actuators ?? [])].map(({ label }) => label))
}

/** `resourceMetaData` belongs to the run's resource, unless it names resources itself. */
function metadataOf(
  { resourceMetaData = {} }: TemplateRun,
  resource: string | undefined,
): Readonly<Record<string, unknown>> {
  if (resource === undefined) return resourceMetaData
  return isPlainObject(resourceMetaData[resource])
    ? resourceMetaData
    : Object.fromEntries([[resource, resourceMetaData]])
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return
  await new Promise<void>((resolve) => {
    const over = (): void => {
      cancel()
      signal?.removeEventListener('abort', over)
      resolve()
    }
    const cancel = machineTimers.later(ms, over)
    signal?.addEventListener('abort', over)
  })
}

/** Returns the rule in a body: a template, whose name is optional here, or a rule with its settings. */
export function graphOf({ graph }: TemplateRun, plugs: PlugRegistry): Template | Rule {
  if (!isPlainObject(graph)) {
    throw new AppError(
      'VALIDATION',
      '/graph <- the graph is missing; send the rule as "graph", or run a stored template',
    )
  }
  const isRule = Object.hasOwn(graph, 'task')
  const read = isRule ? validateRule(graph, plugs) : validateTemplate({ name: 'run', ...graph }, plugs)
  const document = 'rule' in read ? read.rule : read.template
  if (document !== undefined) return document
  throw validationError(
    'the graph',
    read.issues.map((issue) => movedTo(issue, `/graph${issue.path}`)),
  )
}
