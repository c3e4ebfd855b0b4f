/** Builds JSON pointers (RFC 6901) for the paths of issues. */

export function at(path: string, ...steps: readonly (string | number)[]): string {
  let result = path
  for (const step of steps) {
    result += `/${typeof step === 'number' ? step : escaped(step)}`
  }
  return result
}

function escaped(step: string): string {
  return step.includes('~') || step.includes('/') ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step
}

export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
