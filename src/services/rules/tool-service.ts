/** What needs no stored task: plugs, data push, simulation, next runs. */
import type { Plug } from '../../core/plug/plug.ts'
import type { Rule, Template } from '../../core/rule/rule.ts'
import { nextRuns } from '../../core/schedule/next-runs.ts'
import { AppError } from '../../kernel/errors.ts'
import { isPlainObject } from '../../kernel/json.ts'
import type { Books } from './books.ts'
import type { TemplateApi, ToolApi } from './contract.ts'
import { pushData } from './data-push.ts'
import { plugNotFound, templateNotFound, unknownTemplate } from './error-texts.ts'
import { callOnce } from './plug-call.ts'
import { onePlug, plugEntity, plugsOfFamily } from './plug-entity.ts'
import { readShape } from './read-shape.ts'
import type { TaskRunner } from './runner.ts'
import { simulateRequest } from './simulation.ts'
import type { TaskShow } from './task-show.ts'
import { requireGraph, runTemplate, type RunSurroundings } from './template-run.ts'
import {
  PlugCallSchema,
  SimulationSchema,
  TemplateRunSchema,
  type Simulation,
  type TemplateRun,
} from './tools-schema.ts'

export interface ToolParts {
  readonly around: RunSurroundings
  readonly runner: TaskRunner
  readonly show: TaskShow
}

export function toolApi({ around, runner, show }: ToolParts, books: Books): ToolApi {
  const { plugs, ports, now } = around
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
    push: (input) => pushData(runner, show, books, input),
    simulate: async (input) => {
      const request = readShape(SimulationSchema, input, 'the simulation') as Simulation
      return simulateRequest(around, await ruleOf(books, request), request)
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

/** How a template's API runs one; the template is looked up by the caller. */
export function templateRunner(
  around: RunSurroundings,
): (books: Books, template: Template | undefined) => TemplateApi['run'] {
  return (_books, template) =>
    (name, input, options = {}) => {
      if (name !== undefined && template === undefined) throw templateNotFound(name)
      const run = readShape(TemplateRunSchema, input ?? {}, 'the run') as TemplateRun
      if (template === undefined) requireGraph(run)
      return runTemplate(around, template, run, options)
    }
}

async function ruleOf(books: Books, { rule, template }: Simulation): Promise<Rule | Template> {
  if (template !== undefined) {
    const stored = await books.templates.get(template)
    if (stored === undefined) throw unknownTemplate(template)
    return stored.value.document
  }
  if (isPlainObject(rule)) return rule
  throw new AppError('VALIDATION', '/rule <- there is no rule; send it as "rule", or name a stored one as "template"')
}

function newest(plugs: readonly Plug[]): readonly Plug[] {
  return plugs.filter((plug, i) => plug.name !== plugs[i - 1]?.name)
}
