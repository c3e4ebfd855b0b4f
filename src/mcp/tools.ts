/** The tools of assistants: one table for both transports. */
import { Type } from 'typebox'
import { nearest } from '#kernel'
import { LISTING } from '#services/alarms/contract'
import { SERIES_PAGE } from '#services/broker/contract'
import {
  type PlugEntity,
  type PlugFamily,
  REHEARSAL,
  type RehearsalRequest,
  RuleCheck,
  type TemplateSpecification,
} from '#services/rules/contract'
import { CHECKED, closed } from '#services/shared/contract'
import { proposeDraft } from './draft.ts'
import { ProofRequestSchema } from './proof-schema.ts'
import { coverageFirst, rehearsed } from './rehearsal.ts'
import { type Tool, type ToolContext, toolOf } from './tool.ts'

const Name = Type.String({ minLength: 1, maxLength: 500 })
const NODE = { task: Type.String({ minLength: 1, description: 'id of a task' }), node: Name }
const { history: _history, ...ALARMS } = LISTING
const PAGE = 20

const { sweep, compareWith } = REHEARSAL
const { source, resources, variables } = REHEARSAL.fields
// assistants rehearse without effects: calls are never live
const calls = Type.Optional(
  Type.Enum(['none', 'recorded'], {
    description: 'none (default): calls of services fail; recorded: they have the outcomes of the live task',
  }),
)
const fields = { ...REHEARSAL.fields, calls }
const { events: _events, ...withoutEvents } = fields
const template = Type.Unsafe<TemplateSpecification>(
  Type.Object(
    { name: Name },
    { additionalProperties: true, description: 'a template, in any of its forms', ...CHECKED },
  ),
)

export const TOOLS: readonly Tool[] = [
  toolOf({
    name: 'list_plugs',
    title: 'Plugs',
    description:
      'Lists the plugs that rules can use: sensors that read data and have states, and actions. With a name: its properties and outputs.',
    scope: 'read',
    input: closed({ family: Type.Optional(Type.Enum(['sensors', 'actions'])), name: Type.Optional(Name) }),
    call: listPlugs,
  }),
  toolOf({
    name: 'find_rules',
    title: 'Templates and tasks',
    description:
      'Lists templates and tasks by name, or returns one template (a version of it) or one task with its rule. A task is a rule that runs for a resource.',
    scope: 'read',
    input: closed({
      name: Type.Optional(Type.String({ minLength: 1, description: 'part of the name, for a list' })),
      template: Type.Optional(Name),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
      task: Type.Optional(Name),
    }),
    call: async ({ name, template: wanted, version, task }, { client: { rules } }) => {
      if (wanted !== undefined) return { template: await rules.templates.get(wanted, 'simplified', version) }
      if (task !== undefined) return { task: await rules.tasks.get(task, { format: 'simplified' }) }
      const page = { where: name === undefined ? {} : { name }, hits: PAGE, startIndex: 0 }
      const templates = rules.templates.list({ ...page, format: 'simplified', includeGraph: false })
      const tasks = rules.tasks.list(page, { format: 'simplified', withoutGraph: true })
      return { templates: await templates, tasks: await tasks }
    },
  }),
  toolOf({
    name: 'check_rule',
    title: 'Check a rule',
    description:
      'Lists all problems of a rule or template at once, each with its place and a correction. Stores nothing.',
    scope: 'read',
    input: RuleCheck.schema,
    call: (body, { client }) => client.rules.tools.check(body),
  }),
  toolOf({
    name: 'rehearse',
    title: 'Rehearse a rule',
    description:
      'Runs a rule, template or task over stored data or given messages in virtual time, without effects. Read the coverage first: firings over little data mean little.',
    scope: 'author',
    input: closed(fields, { title: 'rehearsal' }),
    call: async (body, context) => coverageFirst(await rehearsed(context, body as RehearsalRequest)),
  }),
  toolOf({
    name: 'diff',
    title: 'Compare two rules',
    description:
      'Rehearses a rule and another one over the same data, and returns the firings that only one of them has, or that moved. Coverage first.',
    scope: 'author',
    input: closed({ ...withoutEvents, compareWith }, { title: 'comparison' }),
    call: async (body, context) => {
      const { id, status, coverage, comparison, counts } = await rehearsed(context, body)
      return { coverage, comparison, counts, id, status }
    },
  }),
  toolOf({
    name: 'sweep',
    title: 'Try several values',
    description:
      'Rehearses a rule with several values of its properties, such as thresholds, and counts firings and alarms for each. Coverage first.',
    scope: 'author',
    input: closed({ ...withoutEvents, sweep }, { title: 'sweep' }),
    call: async (body, context) => {
      const { id, status, coverage, sweep: rows } = await rehearsed(context, body)
      return { coverage, sweep: rows, id, status }
    },
  }),
  toolOf({
    name: 'prove',
    title: 'Prove properties',
    description:
      'Tries all sequences of messages that a rule with built-in plugs can distinguish, up to a length, and returns the shortest sequence that violates a property.',
    scope: 'author',
    input: ProofRequestSchema,
    call: (body, context) => context.prove(body),
  }),
  toolOf({
    name: 'explain',
    title: 'Explain',
    description: 'Explains a node of a task (its state, its last firing, and why), or why an alarm was raised.',
    scope: 'read',
    input: Type.Union([closed(NODE), closed({ alarm: Type.String({ minLength: 1, description: 'id of an alarm' }) })], {
      type: 'object',
    }),
    call: async (asked, { client: { alarms, rules } }) =>
      'alarm' in asked ? alarms.why(asked.alarm) : rules.inspection.explain(asked.task, asked.node),
  }),
  toolOf({
    name: 'why_not',
    title: 'Why not',
    description: 'Explains why a node of a task does not fire: the obstacles of each trigger, and what would fire it.',
    scope: 'read',
    input: closed(NODE),
    call: async ({ task, node }, { client }) => {
      const { time, kind, fired, triggers, neverRun, text } = await client.rules.inspection.explain(task, node)
      const lastFired = fired === null ? null : fired.time
      return {
        node,
        kind,
        time,
        lastFired,
        whyNot: text.whyNot,
        notes: text.notes,
        triggers,
        ...(neverRun && { neverRun }),
      }
    },
  }),
  toolOf({
    name: 'find_alarms',
    title: 'Alarms',
    description: 'Finds alarms by status, severity, type, source and time, newest first.',
    scope: 'read',
    input: closed(ALARMS),
    call: (query, { client }) => client.alarms.list({ size: PAGE, ...query, history: false }),
  }),
  toolOf({
    name: 'read_series',
    title: 'Series',
    description:
      'Reads samples or aggregates of a metric of a resource; without a metric, lists the metrics of the resource with their newest sample.',
    scope: 'read',
    input: closed({ resource: Name, metric: Type.Optional(Name), ...SERIES_PAGE }),
    call: async ({ resource, metric, ...query }, { client: { broker } }) =>
      metric === undefined
        ? { resource, metrics: await broker.series.list(resource) }
        : { resource, metric, ...(await broker.series.get(resource, metric, query)) },
  }),
  toolOf({
    name: 'propose_draft',
    title: 'Propose a draft',
    description:
      'Checks a template, rehearses it beside the published version, and only then stores it as a draft, which does not run. Refuses templates with errors and rehearsals without messages.',
    scope: 'author',
    writes: true,
    input: closed({
      template,
      note: Type.String({ minLength: 1, maxLength: 2_000, description: 'why the version is made, for its reviewers' }),
      source,
      resources,
      variables,
    }),
    call: (proposal, context) => proposeDraft(proposal, context),
  }),
  toolOf({
    name: 'publish',
    title: 'Publish a draft',
    description: 'Makes a draft the version of which new tasks are made. Running tasks stay as they are.',
    scope: 'publish',
    writes: true,
    input: closed({ template: Name, version: Type.Integer({ minimum: 1, description: 'of the draft' }) }),
    call: ({ template: name, version }, { client }) => client.rules.templates.publish(name, version),
  }),
]

async function listPlugs(
  { family, name }: { readonly family?: PlugFamily; readonly name?: string },
  { client: { rules } }: ToolContext,
): Promise<object> {
  const families: readonly PlugFamily[] = family === undefined ? ['sensors', 'actions'] : [family]
  const all = (await Promise.all(families.map((each) => rules.tools.plugs(each)))).flat()
  if (name === undefined) return { plugs: all.map(brief) }
  const found = all.filter((plug) => plug.name === name)
  if (found.length > 0) return { plugs: found }
  const names = all.map((plug) => plug.name)
  return { plugs: [], nearest: nearest(name, names) ?? null }
}

function brief({ name, version, type, description, states }: PlugEntity): object {
  return { name, version, type, ...(description !== undefined && { description }), ...(states && { states }) }
}
