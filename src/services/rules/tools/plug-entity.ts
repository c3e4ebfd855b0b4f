/** Selects plugs for listings. */
import type { Plug } from '#core'
import { compareVersions } from '#core/spi'
import { plugNotFound } from '../error-texts.ts'
import type { PlugEntity, PlugFamily } from './tools-schema.ts'

export function plugsOfFamily(plugs: readonly Plug[], family: PlugFamily): readonly Plug[] {
  const kind = family === 'sensors' ? 'sensor' : 'actuator'
  return plugs
    .filter((plug) => plug.kind === kind)
    .toSorted((a, b) => (a.name === b.name ? compareVersions(b.version, a.version) : a.name < b.name ? -1 : 1))
}

export function onePlug(plugs: readonly Plug[], family: PlugFamily, name: string, version?: string): Plug {
  const wanted = version === 'latest' ? undefined : version
  const found = plugsOfFamily(plugs, family).find(
    (plug) => plug.name === name && (wanted === undefined || plug.version === wanted),
  )
  if (found === undefined) throw plugNotFound(family, name, wanted)
  return found
}

export function plugEntity(plug: Plug): PlugEntity {
  const { name, version, kind, description, category, states, input, output } = plug
  return {
    name,
    version,
    type: kind,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    ...(kind === 'sensor' && { states }),
    configuration: Object.entries(input).map(([field, declared]) => ({
      name: field,
      type: declared.type,
      mandatory: declared.mandatory ?? false,
      ...(declared.defaultValue !== undefined && { defaultValue: declared.defaultValue }),
      ...(declared.format && { format: declared.format }),
      ...(declared.description !== undefined && { description: declared.description }),
      ...(declared.sensitive !== undefined && { sensitive: declared.sensitive }),
    })),
    rawData: Object.entries(output).map(([parameter, declared]) => ({
      parameter,
      dataType: declared.type,
      ...(declared.description !== undefined && { description: declared.description }),
      ...(declared.unit !== undefined && { unit: declared.unit }),
    })),
  }
}
