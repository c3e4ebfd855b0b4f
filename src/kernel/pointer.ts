/** JSON pointers: the places of problems. */

/** A JSON pointer one or more steps further down. */
export function at(path: string, ...steps: readonly (string | number)[]): string {
  let result = path
  for (const step of steps) {
    result += `/${typeof step === 'number' ? step : escaped(step)}`
  }
  return result
}

/** Nearly every name is as it is. */
function escaped(step: string): string {
  return step.includes('~') || step.includes('/') ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step
}

/** The steps of a pointer that `at` made. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
