/** Attributes of resources and types: plain JSON by name. */
import type { Json } from '#kernel'

export type Attributes = Readonly<Record<string, Json>>

export function textAt(attributes: Attributes, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'string' ? value : undefined
}
