/** Fixes and updates the plug versions in a rule. They are fixed when a task is made, and raised by `updatePlugins`. */
import type { PlugKind, PlugNode, RuleGraph } from '#core/spi'
import type { PlugRegistry } from '#core'
import { type Issue, makeIssue } from '#kernel'
import type { PluginUpdate } from '../batches/batch-schema.ts'

/** A version that is already written stays; returns the same object if nothing changes. */
export function withExactVersions<G extends RuleGraph>(graph: G, plugs: PlugRegistry): G {
  return mapPlugs(graph, (node, kind) => {
    if (node.version !== undefined && node.version !== 'latest') return node.version
    return plugs.find(kind, node.name)?.version ?? node.version
  })
}

/** Each node's `sensor:name:version`: the written version, and the version that runs instead. */
export function plugsOf(graph: RuleGraph, plugs: PlugRegistry): readonly string[] {
  const found = new Set<string>()
  const add = (kind: PlugKind, { name, version }: PlugNode): void => {
    found.add(`${kind}:${name}:${version ?? 'latest'}`)
    if (version === undefined || version === 'latest') return
    const plug = plugs.find(kind, name, version)
    if (plug !== undefined) found.add(`${kind}:${name}:${plug.version}`)
  }
  for (const node of graph.sensors ?? []) add('sensor', node)
  for (const node of graph.actuators ?? []) add('actuator', node)
  return [...found]
}

/** Exact versions take precedence over `any`; returns the same object if nothing changes. */
export function withUpdatedPlugs<G extends RuleGraph>(graph: G, updates: readonly PluginUpdate[]): G {
  const ordered = updates.toSorted((a, b) => Number(a.fromVersion === 'any') - Number(b.fromVersion === 'any'))
  return mapPlugs(graph, (node) => {
    const update = ordered.find(
      ({ name, fromVersion }) => name === node.name && (fromVersion === 'any' || fromVersion === node.version),
    )
    return update === undefined ? node.version : update.toVersion
  })
}

/** Reports updates to versions that are unknown without a replacement, or not exact (`latest` may change). */
export function missingVersions(updates: readonly PluginUpdate[], plugs: PlugRegistry, path: string): readonly Issue[] {
  return updates.flatMap(({ name, toVersion }, i): Issue[] => {
    const newest = (plugs.find('sensor', name) ?? plugs.find('actuator', name))?.version
    const isLatest = toVersion === 'latest'
    const found = [plugs.resolve('sensor', name, toVersion), plugs.resolve('actuator', name, toVersion)]
    if (!isLatest && found.some((one) => one !== undefined && one.by !== 'major')) return []
    return [
      makeIssue(
        'TYPE',
        `${path}/${i}/toVersion`,
        isLatest && newest !== undefined ? 'latest is not an exact version' : `${name}:${toVersion} does not exist`,
        newest === undefined ? undefined : `write "toVersion": "${newest}", the newest of ${name}`,
      ),
    ]
  })
}

function mapPlugs<G extends RuleGraph>(graph: G, versionOf: (node: PlugNode, kind: PlugKind) => string | undefined): G {
  const sensors = mapNodes(graph.sensors, (node) => versionOf(node, 'sensor'))
  const actuators = mapNodes(graph.actuators, (node) => versionOf(node, 'actuator'))
  if (sensors === graph.sensors && actuators === graph.actuators) return graph
  return { ...graph, ...(sensors && { sensors }), ...(actuators && { actuators }) }
}

function mapNodes<N extends PlugNode>(
  nodes: readonly N[] | undefined,
  versionOf: (node: N) => string | undefined,
): readonly N[] | undefined {
  let changed = false
  const mapped = nodes?.map((node) => {
    const version = versionOf(node)
    if (version === undefined || version === node.version) return node
    changed = true
    return { ...node, version }
  })
  return changed ? mapped : nodes
}
