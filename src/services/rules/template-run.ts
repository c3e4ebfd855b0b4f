/** A template run once, over data given in the request, or one node of it: nothing is stored. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineEvent } from '../../core/engine/events.ts'
import type { Plug } from '../../core/plug/plug.ts'
import type { Ports } from '../../core/ports.ts'
import type { Rule, RuleGraph, TaskSettings, Template } from '../../core/rule/rule.ts'
import { validateRule } from '../../core/rule/validate.ts'
import type { PlugRegistry } from '../../core/plug/plug.ts'
import { isoInstant } from '../../kernel/instant.ts'
import { AppError, validationError } from '../../kernel/errors.ts'
import { isPlainObject } from '../../kernel/json.ts'
import { dryPlugs } from './dry-plugs.ts'
import { invocationReport, nodesBehind } from './run-report.ts'
import type { InvocationReport, TemplateRun, TemplateRunOptions } from './tools-schema.ts'
import { VirtualRun } from './virtual-run.ts'

export interface RunSurroundings {
  readonly plugs: readonly Plug[]
  readonly registry: PlugRegistry
  readonly ports: Ports
  readonly now: () => number
}

/** ms of virtual time after the last message in which cascades may come to an end */
const AFTER_MS = 60_000

/** One report per invocation. Throws `VALIDATION` for a rule that cannot run, before the first report. */
export async function* runTemplate(
  around: RunSurroundings,
  template: Template | undefined,
  run: TemplateRun,
  options: TemplateRunOptions,
): AsyncGenerator<InvocationReport> {
  const source = template ?? graphOf(run, around.registry)
  const { conf = {}, data, variables, nodesRawData = {} } = run
  const events: EngineEvent[] = []
  const spared = new Set<string>()
  const virtual = new VirtualRun({
    plugs: conf.executeActuators === true ? around.plugs : dryPlugs(around.plugs, spared),
    ports: around.ports,
    metadata: metadataOf(run),
    from: timeOf(data?.[0]?.[0]) ?? around.now(),
    onEvent: (event) => events.push(event),
    ...(options.signal && { signal: options.signal }),
  })
  try {
    const settings: TaskSettings = {
      name: 'run',
      type: data === undefined && options.nodeToDebug === undefined ? 'onetime' : 'reactive',
      ...(conf.resource !== undefined && { resource: conf.resource }),
      ...(conf.resetObservations !== undefined && { resetObservations: conf.resetObservations }),
      ...(conf.gatesNeedFullObservation !== undefined && { gatesNeedFullObservation: conf.gatesNeedFullObservation }),
      ...(variables && { variables }),
    }
    const task = await virtual.start(source, settings)
    const target = options.nodeToDebug ?? options.targetNode
    if (target !== undefined) task.node(target)
    for (const [label, rawData] of Object.entries(nodesRawData)) task.push(label, { rawData })
    const labels = labelsTold(source, options)
    const report = (invocation: number): InvocationReport => {
      const told = events.splice(0)
      const simulated = new Set(spared)
      spared.clear()
      return invocationReport(source, told, { invocation, labels, logLevel: options.logLevel ?? 'INFO', simulated })
    }
    if (options.nodeToDebug !== undefined) {
      events.length = 0
      task.run(options.nodeToDebug)
    }
    if (data === undefined) {
      await virtual.advanceTo(virtual.now)
      await cascade(virtual)
      yield report(1)
      return
    }
    await virtual.advanceTo(virtual.now)
    for (const [i, messages] of data.entries()) {
      if (options.signal?.aborted === true) return
      await virtual.advanceTo(timeOf(messages[0]) ?? virtual.now)
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

/** Delays and retries that follow within a while. */
async function cascade(virtual: VirtualRun): Promise<void> {
  const end = virtual.now + AFTER_MS
  for (let at = virtual.nextAt(); at !== undefined && at <= end; at = virtual.nextAt()) await virtual.advanceTo(at)
}

function graphOf({ graph }: TemplateRun, registry: PlugRegistry): Rule {
  const { rule, issues } = validateRule(graph, registry)
  if (rule === undefined) {
    throw validationError(
      'the graph',
      issues.map((issue) => ({ ...issue, path: `/graph${issue.path}` })),
    )
  }
  const { task: _settings, ...rest } = rule
  return rest
}

function labelsTold(graph: RuleGraph, { nodeToDebug, targetNode }: TemplateRunOptions): ReadonlySet<string> {
  if (nodeToDebug !== undefined) return new Set([nodeToDebug])
  if (targetNode !== undefined) return nodesBehind(graph, targetNode)
  return new Set([...(graph.sensors ?? []), ...(graph.actuators ?? [])].map(({ label }) => label))
}

/** `resourceMetaData` is of the run's resource, unless it names resources itself. */
function metadataOf({ conf, resourceMetaData = {} }: TemplateRun): Readonly<Record<string, unknown>> {
  const resource = conf?.resource
  if (resource === undefined) return resourceMetaData
  return isPlainObject(resourceMetaData[resource])
    ? resourceMetaData
    : Object.fromEntries([[resource, resourceMetaData]])
}

function timeOf(message: { readonly timestamp?: unknown } | undefined): number | undefined {
  const timestamp = message?.timestamp
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : timestamp
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal && { signal })
  } catch {
    // the reader has gone; the loop sees it
  }
}

/** The rule of a run must come from somewhere. */
export function requireGraph(run: TemplateRun): void {
  if (isPlainObject(run.graph)) return
  throw new AppError('VALIDATION', '/graph <- there is no graph; send the rule as "graph", or run a stored template')
}
