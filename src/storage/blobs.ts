/** Objects by path. Paths are segments joined by `/`, never empty, `.` or `..`; at most 1,024 bytes. */
export interface BlobInfo {
  readonly path: string
  /** bytes */
  readonly size: number
  /** digest of the content in hex: SHA-256, unless `put` was told another */
  readonly etag: string
  readonly contentType: string
  /** epoch ms */
  readonly modified: number
  readonly metadata: Readonly<Record<string, string>>
}

/** MD5 is for those who have to show it, as S3 does: nothing relies on it against forgery. */
export type Digest = 'sha256' | 'md5'

export interface Blobs {
  /** Replaces whole or not at all. `expect`: the etag that must be there, or `'absent'`; else `CONFLICT`. */
  put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: {
      readonly contentType?: string
      readonly metadata?: Readonly<Record<string, string>>
      readonly expect?: string
      /** what the etag is made of; default `sha256` */
      readonly digest?: Digest
    },
  ): Promise<BlobInfo>
  info(path: string): Promise<BlobInfo | undefined>
  /** `from` and `until` are bytes, both included. */
  get(
    path: string,
    range?: { readonly from: number; readonly until?: number },
  ): Promise<{ readonly info: BlobInfo; readonly content: AsyncIterable<Uint8Array> } | undefined>
  /** The same content under another path, whole or not at all, with the time and all else of its source; false without one. */
  copy(source: string, target: string): Promise<boolean>
  /** By path in byte order, after a path, at most `limit` (1 to 1,000, default 1,000). */
  list(query: {
    readonly prefix?: string
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly BlobInfo[]>
  /** True when there was one. */
  delete(path: string): Promise<boolean>
}
