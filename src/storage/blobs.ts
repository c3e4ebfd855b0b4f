/** Objects by path. Paths are segments joined by `/`, never empty, `.` or `..`; at most 1,024 bytes. */
export interface BlobInfo {
  readonly path: string
  /** bytes */
  readonly size: number
  /** digest of the content in hex; SHA-256 unless `put` names another */
  readonly etag: string
  readonly contentType: string
  /** epoch ms */
  readonly modified: number
  readonly metadata: Readonly<Record<string, string>>
}

/** MD5 is for S3 clients only: never rely on it against forgery. */
export type Digest = 'sha256' | 'md5'

export interface Blobs {
  /** Replaces the whole object or nothing. `expect`: the current etag, or `'absent'`; otherwise `CONFLICT`. */
  put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: {
      readonly contentType?: string
      readonly metadata?: Readonly<Record<string, string>>
      readonly expect?: string
      /** of the etag; default `sha256` */
      readonly digest?: Digest
    },
  ): Promise<BlobInfo>
  info(path: string): Promise<BlobInfo | undefined>
  /** `from` and `until` are bytes, both included. */
  get(
    path: string,
    range?: { readonly from: number; readonly until?: number },
  ): Promise<{ readonly info: BlobInfo; readonly content: AsyncIterable<Uint8Array> } | undefined>
  /** Copies content, time and metadata to another path; false without a source. */
  copy(source: string, target: string): Promise<boolean>
  /** In byte order of paths, after a path, at most `limit` (1 to 1,000, default 1,000). */
  list(query: {
    readonly prefix?: string
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly BlobInfo[]>
  /** Returns whether it existed. */
  delete(path: string): Promise<boolean>
}
