/** What needs no stored task: plugs, data push, simulation, next runs. */
import { findVariables } from '../../../core/rule/find-variables.ts'
import type { Plug } from '../../../core/plug/plug.ts'
import type { Rule, Template } from '../../../core/rule/rule.ts'
import { nextRuns } from '../../../core/schedule/next-runs.ts'
import { AppError } from '../../../kernel/errors.ts'
import { isPlainObject } from '../../../kernel/json.ts'
import { makeIssue, refuse } from '../../../kernel/issues.ts'
import type { TenantCollections } from '../collections.ts'
import type { ToolApi } from '../contract.ts'
import { pushData, type PushElsewhere } from './data-push.ts'
import { plugNotFound, unknownTemplate } from '../error-texts.ts'
import { callOnce } from './plug-call.ts'
import { onePlug, plugEntity, plugsOfFamily } from './plug-entity.ts'
import { readShape } from '../read-shape.ts'
import type { TaskRunner } from '../runner.ts'
import { simulateRequest } from './simulation.ts'
import type { TaskShow } from '../tasks/task-show.ts'
import { graphOf, runTemplate, type RunSource, type RunDependencies } from './template-run.ts'
import {
  PlugCallSchema,
  SimulationSchema,
  TemplateRunSchema,
  type InvocationReport,
  type Simulation,
  type TemplateRun,
  type TemplateRunOptions,
} from './tools-schema.ts'

export interface ToolDependencies {
  readonly context: RunDependencies
  readonly runner: TaskRunner
  readonly show: TaskShow
  readonly pushElsewhere?: PushElsewhere | undefined
}

export function toolApi(
  { context, runner, show, pushElsewhere }: ToolDependencies,
  collections: TenantCollections,
): ToolApi {
  const { ports, now } = context
  const plugs = context.registry.list()
  return {
    plugs: (family) => Promise.resolve(newest(plugsOfFamily(plugs, family)).map(plugEntity)),
    plug: async (family, name, version) => plugEntity(onePlug(plugs, family, name, version)),
    versions: async (family, name) => {
      const found = plugsOfFamily(plugs, family).filter((plug) => plug.name === name)
      if (found.length === 0) throw plugNotFound(family, name)
      return found.map(plugEntity)
    },
    call: async (family, name, version, input, cause) => {
      const plug = onePlug(plugs, family, name, version)
      return callOnce(plug, readShape(PlugCallSchema, input ?? {}, 'the call'), ports, now(), cause)
    },
    variables: async (input) => findVariables(input),
    push: (input) => pushData(runner, show, collections, input, pushElsewhere),
    simulate: async (input) => {
      const request = readShape(SimulationSchema, input, 'the simulation') as Simulation
      return simulateRequest(context, await ruleOf(collections, request), request)
    },
    nextRuns: async ({ expression, zone, from = now(), count, gap, overlap }) =>
      nextRuns(expression, {
        from,
        ...(zone !== undefined && { zone }),
        ...(count !== undefined && { count }),
        dst: { ...(gap && { gap }), ...(overlap && { overlap }) },
      }),
  }
}

/** How a template's API runs one; a stored one is looked up by the caller. */
export function templateRunner(
  context: RunDependencies,
): (stored: RunSource | undefined, input: unknown, options: TemplateRunOptions) => AsyncIterable<InvocationReport> {
  return (stored, input, options) => {
    const run = readShape(TemplateRunSchema, input ?? {}, 'the run') as TemplateRun
    if (stored !== undefined && run.graph !== undefined) throw twoGraphs(stored)
    return runTemplate(context, stored ?? { document: graphOf(run, context.registry) }, run, options)
  }
}

function twoGraphs({ owner }: RunSource): AppError {
  const message = `there is a graph, and ${owner ?? 'a stored template'} is to be run`
  const suggestion = 'leave graph out, or leave the name of the template out of the address'
  return refuse('the run', [makeIssue('FIELD', '/graph', message, suggestion)])
}

async function ruleOf(collections: TenantCollections, { rule, template }: Simulation): Promise<Rule | Template> {
  if (template !== undefined) {
    const stored = await collections.templates.get(template)
    if (stored === undefined) throw unknownTemplate(template)
    return stored.value.document
  }
  if (isPlainObject(rule)) return rule
  throw new AppError('VALIDATION', '/rule <- there is no rule; send it as "rule", or name a stored one as "template"')
}

function newest(plugs: readonly Plug[]): readonly Plug[] {
  return plugs.filter((plug, i) => plug.name !== plugs[i - 1]?.name)
}
