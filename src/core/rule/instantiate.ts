/** A task out of a template and what a request brings. */
import { AppError, at, type Issue } from '#kernel'
import { parseResource } from '../language/placeholders/resource.ts'
import { Report } from './check/report.ts'
import { applyOverrides } from './overrides.ts'
import type { Rule, RuleGraph, TaskSettings, Template } from './rule.ts'
import { mergeSettings } from './settings.ts'
import { reportMissingVariable, resolveVariables } from './variables.ts'

/** A task to be, made of a template or rule and a request. */
export interface Instance {
  /** the graph with the overrides applied, and `task` with the merged settings; `task.nodes` is used up */
  rule: Rule
  /** all variables by name, in their declared types; the same as `rule.task.variables` */
  variables: Record<string, unknown>
  /** problems of the request; paths point into it, or to `/taskDefaults` of the template. Errors among them mean that the task cannot start */
  issues: Issue[]
}

/**
 * Makes a task of a template. What counts more comes later: the template's node properties,
 * `taskDefaults` for settings, the settings of `request`, its `nodes`. A rule stands for a template whose defaults
 * are its `task`. Neither argument is changed, and the result has still to be validated as a rule. Never throws.
 */
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

/** The body of a request may still carry the name of its template and its version, which are no settings. */
function withoutTemplateName(settings: TaskSettings & { template?: string; templateVersion?: number }): TaskSettings {
  const { template: _template, templateVersion: _version, ...rest } = settings
  return rest
}

/** `$name` as a resource needs a value now: a task cannot start without it. */
function checkResourceVariables(graph: RuleGraph, variables: Readonly<Record<string, unknown>>, report: Report): void {
  const missing = new Set<string>()
  for (const { resource } of [...(graph.sensors ?? []), ...(graph.actuators ?? [])]) {
    const name = resource === undefined ? undefined : variableOf(resource)
    if (name !== undefined && (variables[name] ?? undefined) === undefined) missing.add(name)
  }
  for (const { details } of report.issues) missing.delete(String(details?.['variable']))
  for (const name of missing) reportMissingVariable(name, at('/variables', name), report)
}

/** The name in `$name`; undefined for any other resource. */
export function variableOf(resource: string): string | undefined {
  try {
    const spec = parseResource(resource)
    return spec.kind === 'variable' ? spec.name : undefined
  } catch (error) {
    // a resource that cannot be read is reported when the rule is validated
    if (error instanceof AppError) return undefined
    throw error
  }
}
