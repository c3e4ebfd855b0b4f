/** Ids of shadows: the roll-out, and the task beside which the shadow runs. Ids of tasks never contain a tilde. */
export function shadowId(rollout: string, task: string): string {
  return `${rollout}~${task}`
}

export function isShadow(id: string): boolean {
  return id.includes('~')
}
