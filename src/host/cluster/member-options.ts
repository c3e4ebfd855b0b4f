/** Checks the options of cluster members and single hosts. */

/** Options as entered; undefined: missing or invalid. */
interface SharedOptions {
  readonly store: { readonly medium: string } | undefined
  readonly host: string | undefined
  readonly blobs: string | undefined
  readonly advertise: string | undefined
}

export function memberUrlOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, pathname, search, username } = new URL(text)
  const isPlain = pathname === '/' && search === '' && username === ''
  return isPlain && ['http:', 'https:'].includes(protocol) ? origin : undefined
}

export function problemsOfOne({ advertise }: SharedOptions): readonly string[] {
  return advertise === undefined ? [] : ['--advertise: requires --cluster']
}

export function problemsOfMember(options: SharedOptions): readonly string[] {
  const { store, host, blobs, advertise } = options
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const problems: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [
      store !== undefined && store.medium !== 'postgres',
      '--cluster: hosts share a PostgreSQL; set --store postgres://user@host/database',
    ],
    [
      blobs === undefined,
      '--cluster: hosts share the folder of assets and models; set --blobs to a folder that all hosts can access',
    ],
    [
      advertise === undefined && isEverywhere,
      '--advertise: missing, and this host listens on all addresses; set the address at which other hosts reach it',
    ],
  ]
  return problems.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []))
}
