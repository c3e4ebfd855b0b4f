/** Which versions a caller means. */
import semver from 'semver'

/** Whether a published version is among those that the header asks for; nothing, `latest` and `*` mean any. */
export function fits(version: string, asked: string | undefined): boolean {
  if (asked === undefined || asked === 'latest' || asked === '*' || asked === '') return true
  return asked.length <= 100 && semver.satisfies(version, asked)
}
