/** Tools without a stored task: plugs, data push, simulation, next runs. */
import type { Plug, Template } from '#core'
import type { Caller } from '#kernel'
import type { ToolApi } from '../contract.ts'
import { pushData } from './data-push.ts'
import { plugNotFound, unknownTemplate } from '../error-texts.ts'
import { onePlug, plugEntity, plugsOfFamily } from './plug-entity.ts'
import type { TenantRules } from '../tenant-rules.ts'

export function toolApi(rules: TenantRules, caller: Caller): ToolApi {
  const { collections, context, direct } = rules
  const { now } = rules.options
  const plugs = context.registry.list()
  const storedTemplate = async (name: string): Promise<Template> => {
    const stored = await collections.templates.get(name)
    if (stored === undefined) throw unknownTemplate(name)
    return stored.value.document
  }
  return {
    plugs: (family) => Promise.resolve(newest(plugsOfFamily(plugs, family)).map(plugEntity)),
    plug: async (family, name, version) => plugEntity(onePlug(plugs, family, name, version)),
    versions: async (family, name) => {
      const found = plugsOfFamily(plugs, family).filter((plug) => plug.name === name)
      if (found.length === 0) throw plugNotFound(family, name)
      return found.map(plugEntity)
    },
    call: async (family, name, version, input, cause) => {
      onePlug(plugs, family, name, version)
      return direct.call(family, name, version, input, cause)
    },
    variables: (input) => direct.variables(input),
    push: (input) => pushData(rules, caller, input),
    simulate: (input) => direct.simulate(storedTemplate, input),
    nextRuns: ({ expression, zone, from = now(), count, gap, overlap }) =>
      direct.nextRuns(expression, {
        from,
        ...(zone !== undefined && { zone }),
        ...(count !== undefined && { count }),
        dst: { ...(gap && { gap }), ...(overlap && { overlap }) },
      }),
  }
}

function newest(plugs: readonly Plug[]): readonly Plug[] {
  return plugs.filter((plug, i) => plug.name !== plugs[i - 1]?.name)
}
