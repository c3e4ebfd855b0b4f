/** Adds the states of a run to nodes in `bn` form. */
import type { NodeView } from '#core'
import { isPlainObject } from '#kernel'
import type { RuntimeNode } from './inspection-schema.ts'

type BnNodeLike = Readonly<Record<string, unknown>>

export function runtimeNode(node: BnNodeLike, view: NodeView | undefined): RuntimeNode {
  const names = Array.isArray(node['states']) ? node['states'].map(String) : []
  const properties = isPlainObject(node['properties']) ? node['properties'] : {}
  const plug = isPlainObject(properties['sensor']) ? properties['sensor'] : undefined
  const name = String(node['name'])
  return {
    name,
    states: view
      ? Object.entries(view.states).map(([state, share]) => ({ [state]: share }))
      : names.map((state) => ({ [state]: 1 / names.length })),
    mostLikelyState: view === undefined ? null : view.mostLikelyState,
    ...(view?.members && { members: view.members }),
    ...(plug && {
      sensor: {
        name: String(plug['name']),
        ...(typeof plug['version'] === 'string' && { version: plug['version'] }),
        label: name,
      },
    }),
    properties,
    ...(view?.rawData !== undefined && { rawData: view.rawData }),
    ...(view?.collectedTime !== undefined && { collectedTime: view.collectedTime }),
    ...(view?.error && { error: view.error }),
  }
}
