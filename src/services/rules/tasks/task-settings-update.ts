/** What batch updates do to the settings that a task brings itself. */
import { mergeOverrides } from '#core/spi'
import type { TaskSettings } from '#core'
import type { PluginUpdate, PropertiesUpdate } from '../batches/batch-schema.ts'

/** `tags`: those that the task shows now, its template's among them. */
export function withProperties(
  settings: TaskSettings,
  shown: TaskSettings['tags'],
  update: PropertiesUpdate,
): TaskSettings {
  const { nodes, variables, tags, ...flags } = update
  const next: TaskSettings = { ...settings, ...flags }
  if (nodes) next.nodes = mergeOverrides(settings.nodes ?? [], nodes)
  if (variables) next.variables = { ...settings.variables, ...variables }
  if (tags) {
    const merged = Object.entries({ ...shown, ...tags }).filter(([, value]) => value !== null)
    next.tags = Object.fromEntries(merged) as NonNullable<TaskSettings['tags']>
  }
  return next
}

/** Overrides may pin a version too. */
export function withPinnedVersions(settings: TaskSettings, updates: readonly PluginUpdate[]): TaskSettings {
  if (settings.nodes === undefined) return settings
  const nodes = settings.nodes.map((override) => {
    const { sensor } = override.properties
    if (sensor?.name === undefined || sensor.version === undefined) return override
    const update = updates.find(
      ({ name, fromVersion }) => name === sensor.name && (fromVersion === 'any' || fromVersion === sensor.version),
    )
    if (update === undefined) return override
    return { ...override, properties: { ...override.properties, sensor: { ...sensor, version: update.toVersion } } }
  })
  return { ...settings, nodes }
}
