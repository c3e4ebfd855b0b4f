/** Creates a task from a template and a request. */
import { AppError, at, type Issue } from '#kernel'
import { parseResource } from '../language/placeholders/resource.ts'
import { Report } from './check/report.ts'
import { applyOverrides } from './overrides.ts'
import type { Rule, RuleGraph, TaskSettings, Template } from './rule.ts'
import { mergeSettings } from './settings.ts'
import { reportMissingVariable, resolveVariables } from './variables.ts'

export interface Instance {
  /** the graph with the overrides applied, and `task` with the merged settings, without `task.nodes` */
  rule: Rule
  /** all variables by name, in their declared types; the same object as `rule.task.variables` */
  variables: Record<string, unknown>
  /** paths refer to the request, or to `/taskDefaults`; with an ERROR the task cannot start */
  issues: Issue[]
}

/** Later values win: node properties, `taskDefaults`, the settings of `request`, its `nodes`. Never throws. */
export function instantiate(source: Template | Rule, request: TaskSettings = {}): Instance {
  const report = new Report()
  const defaults = defaultsOf(source)
  const { nodes = [], ...settings } = request
  const { nodes: defaultNodes = [], ...merged } = mergeSettings(defaults, settings)
  const prepared = applyOverrides(graphOf(source), defaultNodes, '/taskDefaults/nodes', report)
  const graph = applyOverrides(prepared, nodes, '/nodes', report)
  const { variables: declarations = [] }: Partial<Template> = source
  const variables = resolveVariables(declarations, merged.variables ?? {}, '/variables', report)
  checkResourceVariables(graph, variables, report)
  const task: TaskSettings = withoutTemplateName(merged)
  if (Object.keys(variables).length > 0) task.variables = variables
  return { rule: { ...graph, task }, variables, issues: report.issues }
}

function defaultsOf(source: Template | Rule): TaskSettings {
  const { taskDefaults, task }: Partial<Template & Rule> = source
  return { ...taskDefaults, ...task }
}

function graphOf(source: RuleGraph): RuleGraph {
  const graph: RuleGraph = {}
  if (source.sensors) graph.sensors = source.sensors
  if (source.actuators) graph.actuators = source.actuators
  if (source.relations) graph.relations = source.relations
  if (source.triggers) graph.triggers = source.triggers
  if (source.notes) graph.notes = source.notes
  return graph
}

function withoutTemplateName(settings: TaskSettings & { template?: string; templateVersion?: number }): TaskSettings {
  const { template: _template, templateVersion: _version, ...rest } = settings
  return rest
}

/** Checks that variables used as a resource (`$name`) have a value before the start. */
function checkResourceVariables(graph: RuleGraph, variables: Readonly<Record<string, unknown>>, report: Report): void {
  const missing = new Set<string>()
  for (const { resource } of [...(graph.sensors ?? []), ...(graph.actuators ?? [])]) {
    const name = resource === undefined ? undefined : variableOf(resource)
    if (name !== undefined && (variables[name] ?? undefined) === undefined) missing.add(name)
  }
  for (const { details } of report.issues) missing.delete(String(details?.['variable']))
  for (const name of missing) reportMissingVariable(name, at('/variables', name), report)
}

export function variableOf(resource: string): string | undefined {
  try {
    const spec = parseResource(resource)
    return spec.kind === 'variable' ? spec.name : undefined
  } catch (error) {
    // the validation of the rule reports an invalid resource
    if (error instanceof AppError) return undefined
    throw error
  }
}
