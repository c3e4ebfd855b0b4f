/** Checks rules, templates and requests for tasks completely. */
import { at, isPlainObject, type Issue } from '#kernel'
import type { PlugRegistry } from '../plug/plug.ts'
import { isBnDocument, readBn } from './bn/read-bn.ts'
import { checkBindings } from './check/check-bindings.ts'
import { checkCycles } from './check/check-cycles.ts'
import { checkGroups } from './check/check-groups.ts'
import { checkInputs } from './check/check-inputs.ts'
import { checkEvaluation } from './check/check-evaluation.ts'
import { checkPlanned } from './check/check-planned.ts'
import { checkPlugNodes } from './check/check-plug-nodes.ts'
import { checkProperties } from './check/check-properties.ts'
import { checkReach } from './check/check-reach.ts'
import { checkImpossibleRows } from './check/check-rows.ts'
import { checkResets } from './check/check-resets.ts'
import { checkNodeSchedules } from './check/check-schedules.ts'
import { checkRelations } from './check/check-relations.ts'
import { checkSettings } from './check/check-settings.ts'
import { checkShape } from './check/check-shape.ts'
import { checkTriggers, withoutEmptyConditions } from './check/check-triggers.ts'
import { invocationsOf } from './check/invocations.ts'
import { readDocument } from './check/read-document.ts'
import { emptyRecord } from './check/record.ts'
import { Report, type CheckOptions } from './check/report.ts'
import { indexRule, type PartialRule } from './check/rule-index.ts'
import { applyOverrides } from './overrides.ts'
import { RuleSchema, TaskFromTemplateSchema, TemplateSchema } from './rule-schema.ts'
import type {
  NodeOverride,
  Rule,
  RuleGraph,
  TaskFromTemplate,
  TaskSettings,
  Template,
  VariableDeclaration,
} from './rule.ts'
import { checkDeclarations, resolveVariables } from './variables.ts'

export interface Validated {
  /** a copy of the rule in simplified form; undefined if an issue is an ERROR */
  rule: Rule | undefined
  /** every problem at once; paths are JSON pointers into the input */
  issues: Issue[]
}

export interface ValidatedTemplate {
  template: Template | undefined
  issues: Issue[]
}

export interface ValidatedRequest {
  request: TaskFromTemplate | undefined
  issues: Issue[]
}

/** Never throws on JSON. The returned rule is always in simplified form. */
export function validateRule(input: unknown, plugs: PlugRegistry, options: CheckOptions = {}): Validated {
  const report = new Report(options)
  const loose = readLoose(input, 'rule', RuleSchema, report)
  if (loose === undefined) return { rule: undefined, issues: report.issues }
  const { value, written, toOriginal } = loose
  const { variables = [], ...rule } = ofRule(value as Readonly<Record<string, unknown>>)
  const declared = Array.isArray(variables) ? (variables as readonly Partial<VariableDeclaration>[]) : []
  const values = valuesOf(variables, declared, rule.task, report)
  if (values !== undefined) rule.task = { ...rule.task, variables: values }
  const settings = rule.task ?? {}
  checkSettings(settings, written['task'], '/task', false, report)
  // engine.start may still add a clock to a rule without settings
  const hasTick = rule.task === undefined || (settings.type ?? 'reactive') !== 'reactive'
  const effective = overridden(rule, settings, '/task/nodes', report)
  const { evaluation = false } = options
  checkGraph(effective, plugs, { written, open: false, hasTick, settings, variables: declared, evaluation }, report)
  const issues = report.issues.map(toOriginal)
  return { rule: report.hasErrors ? undefined : (tidy(rule) as Rule), issues }
}

/** Removes the fields that mark a template: they were already warned about, and must not be used. */
function ofRule({
  name: _name,
  taskDefaults: _defaults,
  ...fields
}: Readonly<Record<string, unknown>>): PartialRule & { variables?: object } {
  return fields
}

/** Values in the settings override those next to them. */
function valuesOf(
  variables: object,
  declared: readonly Partial<VariableDeclaration>[],
  { variables: ofSettings = {} }: TaskSettings = {},
  report: Report,
): Record<string, unknown> | undefined {
  if (declared.length === 0) {
    const values = { ...variables, ...ofSettings }
    return Object.keys(values).length === 0 ? undefined : values
  }
  checkDeclarations(declared, '/variables', report)
  declared.forEach(({ overrideByStream, overrideByData }, i) => {
    if (overrideByStream !== true && overrideByData !== true) return
    const message = 'live data replaces only variables of templates'
    report.warning('VARIABLE', at('/variables', i), message, 'use a template, or read the value of the message')
  })
  const whole = declared.filter((one): one is VariableDeclaration => one.name !== undefined && one.type !== undefined)
  return resolveVariables(whole, ofSettings, '/task/variables', report)
}

/** Parts that a task may still supply are only warnings, and so is a draft without sensors. */
export function validateTemplate(input: unknown, plugs: PlugRegistry, options: CheckOptions = {}): ValidatedTemplate {
  const report = new Report(options)
  const loose = readLoose(input, 'template', TemplateSchema, report)
  if (loose === undefined) return { template: undefined, issues: report.issues }
  const { value, written, toOriginal } = loose
  const template = value as PartialRule & { variables?: Partial<VariableDeclaration>[]; taskDefaults?: TaskSettings }
  const { variables = [], taskDefaults = {} } = template
  checkDeclarations(variables, '/variables', report)
  checkSettings(taskDefaults, written['taskDefaults'], '/taskDefaults', true, report)
  const hasTick = (taskDefaults.type ?? 'periodic') !== 'reactive'
  const effective = overridden(template, taskDefaults, '/taskDefaults/nodes', report)
  const { evaluation = false } = options
  checkGraph(effective, plugs, { written, open: true, hasTick, settings: taskDefaults, variables, evaluation }, report)
  const issues = report.issues.map(toOriginal)
  return { template: report.hasErrors ? undefined : (tidy(template) as Partial<Template> as Template), issues }
}

/** `instantiate` checks the body against the template, and `validateRule` whether the rule can run. */
export function validateTaskRequest(input: unknown): ValidatedRequest {
  const report = new Report()
  const loose = readLoose(input, 'task', TaskFromTemplateSchema, report)
  if (loose === undefined) return { request: undefined, issues: report.issues }
  checkSettings(loose.value as TaskSettings, loose.written, '', true, report)
  return { request: report.hasErrors ? undefined : (loose.value as TaskFromTemplate), issues: report.issues }
}

type Kind = 'rule' | 'template' | 'task'

interface ShapedDocument {
  readonly value: unknown
  readonly written: Readonly<Record<string, unknown>>
  readonly toOriginal: (issue: Issue) => Issue
}

function readLoose(input: unknown, kind: Kind, schema: object, report: Report): ShapedDocument | undefined {
  const document = readDocument(input, report)
  if (document === undefined) return undefined
  const isBn = kind !== 'task' && isBnDocument(document)
  const simplified = isBn ? readBn(document, report) : { document, toOriginal: (issue: Issue) => issue }
  if (simplified === undefined) return undefined
  const renamed = withNewNames(simplified.document)
  // the name in the bn form of a rule is ignored
  if (isBn && kind === 'rule') delete renamed['name']
  const kept = kind === 'template' ? takeShown(renamed) : {}
  const value = checkShape(schema, renamed, '', `the ${kind}`, report)
  if (!isPlainObject(value)) return undefined
  return { value: Object.assign(value, kept), written: renamed, toOriginal: simplified.toOriginal }
}

/** Fields that a host adds to a template; they are accepted so that the template can be posted back after a GET. */
const SHOWN: Readonly<Record<string, string>> = {
  version: 'number',
  user: 'string',
  createTime: 'number',
  lastUpdateTime: 'number',
  revision: 'number',
  discoveryTemplate: 'boolean',
}

/** Removes the fields in `SHOWN`, and returns the only one that is stored. */
function takeShown(document: Record<string, unknown>): { readonly protected?: boolean } {
  for (const [field, type] of Object.entries(SHOWN)) if (typeof document[field] === type) delete document[field]
  const { protected: isProtected } = document
  if (typeof isProtected !== 'boolean') return {}
  delete document['protected']
  return { protected: isProtected }
}

/** Overrides of an invalid shape were already reported and are skipped. */
function overridden(rule: PartialRule, settings: TaskSettings, path: string, report: Report): PartialRule {
  const overrides: readonly Partial<NodeOverride>[] = settings.nodes ?? []
  const whole = overrides.map(({ name = '', properties = {} }) => ({ name, properties }))
  return applyOverrides(rule as RuleGraph, whole, path, report) as PartialRule
}

function withNewNames(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy = Object.assign(emptyRecord(), document)
  for (const key of ['task', 'taskDefaults'] as const) {
    const settings = copy[key]
    if (typeof settings === 'object' && settings !== null && 'type' in settings && settings.type === 'cron') {
      copy[key] = Object.assign(emptyRecord(), settings, { type: 'scheduled' })
    }
  }
  if (copy['type'] === 'cron') copy['type'] = 'scheduled'
  return copy
}

interface GraphContext {
  readonly written: Readonly<Record<string, unknown>>
  readonly open: boolean
  readonly hasTick: boolean
  readonly settings: TaskSettings
  readonly variables: readonly Partial<VariableDeclaration>[]
  readonly evaluation: boolean
}

function checkGraph(rule: PartialRule, plugs: PlugRegistry, context: GraphContext, report: Report): void {
  const { sensors = [] } = context.written
  if (context.open && Array.isArray(sensors) && sensors.length === 0)
    report.warning('START', '/sensors', 'a draft without sensors, from which tasks cannot be created', 'add a sensor')
  const index = indexRule(rule, plugs, report)
  const invocations = invocationsOf(rule, index, context.hasTick)
  checkPlugNodes(rule, index, context.hasTick, invocations, report)
  checkNodeSchedules(index, report)
  checkInputs(index, report)
  checkGroups(rule, index, context.settings, report)
  checkPlanned(rule, index, report)
  checkProperties(index, context.open, report)
  checkBindings(index, context.variables, report)
  const sound = checkRelations(index, report)
  checkTriggers(rule, index, report)
  checkResets(rule, index, context.settings, invocations, report)
  checkImpossibleRows(rule, index, sound, report)
  const onCycle = checkCycles(rule, index, report)
  if (context.evaluation) checkEvaluation(rule, index, context.settings, invocations, report)
  checkReach(index, new Set([...sound].filter((label) => !onCycle.has(label))), report)
}

function tidy<T extends PartialRule>(rule: T): T {
  if (rule.triggers) rule.triggers = rule.triggers.map(withoutEmptyConditions)
  return rule
}
