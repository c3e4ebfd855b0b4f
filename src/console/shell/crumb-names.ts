/** Names of things whose ids are in the path; a screen that loads one adds it. */
import { signal } from '@preact/signals'

export const crumbNames = signal<ReadonlyMap<string, string>>(new Map())

export function nameCrumb(id: string, name: string): void {
  if (crumbNames.peek().get(id) !== name) crumbNames.value = new Map(crumbNames.peek()).set(id, name)
}
