/** Builds the report of one invocation of a run from its events. */
import type { EngineEvent } from '#core'
import type { RuleGraph } from '#core/spi'
import { lineOf } from '../inspection/task-log.ts'
import type { InvocationReport, NodeReport, RunLogLine } from './tools-schema.ts'
import { LOG_LEVELS, type LogLevel } from '../shared-schema.ts'

export interface ReportOptions {
  readonly invocation: number
  readonly labels: ReadonlySet<string>
  readonly logLevel: LogLevel
  readonly simulated: ReadonlySet<string>
}

const NOT_RUN: NodeReport = { executed: false }

export function invocationReport(
  { sensors = [], actuators = [] }: RuleGraph,
  events: readonly EngineEvent[],
  { invocation, labels, logLevel, simulated }: ReportOptions,
): InvocationReport {
  const reports = new Map<string, NodeReport>()
  for (const event of events) if (event.type === 'result') reports.set(event.node, nodeReport(event))
  for (const label of simulated) {
    const state = reports.get(label)?.state
    reports.set(label, { executed: false, simulated: true, ...(state !== undefined && { state }) })
  }
  const reportsOf = (nodes: readonly { label: string }[]): Record<string, NodeReport> =>
    Object.fromEntries(
      nodes.filter(({ label }) => labels.has(label)).map(({ label }) => [label, reports.get(label) ?? NOT_RUN]),
    )
  return {
    taskId: 'run',
    invocationId: String(invocation),
    sensors: reportsOf(sensors),
    actuators: reportsOf(actuators),
    log: logLines(events, logLevel),
  }
}

export function logLines(events: readonly EngineEvent[], logLevel: LogLevel = 'INFO'): readonly RunLogLine[] {
  const least = LOG_LEVELS.indexOf(logLevel)
  return events.flatMap((event) => {
    const { level, message } = lineOf(event)
    if (LOG_LEVELS.indexOf(level) < least) return []
    const node = event.node
    return [{ time: new Date(event.time).toISOString(), level, message, ...(node !== undefined && { node }) }]
  })
}

export function nodesLeadingTo({ relations = [], triggers = [] }: RuleGraph, label: string): Set<string> {
  const found = new Set([label])
  const parents = new Map(relations.map((relation) => [relation.label, relation.parentLabels]))
  for (const each of found) {
    for (const parent of parents.get(each) ?? []) found.add(parent)
    for (const { sourceLabel, destinationLabel } of triggers) if (destinationLabel === each) found.add(sourceLabel)
  }
  return found
}

function nodeReport(event: Extract<EngineEvent, { type: 'result' }>): NodeReport {
  return {
    executed: true,
    result: event.ok,
    ...(event.state !== undefined && { state: event.state }),
    ...(event.rawData !== undefined && { rawData: event.rawData }),
    ...(event.message !== undefined && { message: event.message }),
    ...(event.error !== undefined && { error: event.error }),
  }
}
