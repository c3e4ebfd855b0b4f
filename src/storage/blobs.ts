/** Objects by path. Paths are segments joined by `/`, never empty, `.` or `..`; at most 1,024 bytes. */
export interface BlobInfo {
  readonly path: string
  /** bytes */
  readonly size: number
  /** SHA-256 of the content in hex */
  readonly etag: string
  readonly contentType: string
  /** epoch ms */
  readonly modified: number
  readonly metadata: Readonly<Record<string, string>>
}

export interface Blobs {
  /** Replaces whole or not at all. `expect`: the etag that must be there, or `'absent'`; else `CONFLICT`. */
  put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: {
      readonly contentType?: string
      readonly metadata?: Readonly<Record<string, string>>
      readonly expect?: string
    },
  ): Promise<BlobInfo>
  info(path: string): Promise<BlobInfo | undefined>
  /** `from` and `until` are bytes, both included. */
  get(
    path: string,
    range?: { readonly from: number; readonly until?: number },
  ): Promise<{ readonly info: BlobInfo; readonly content: AsyncIterable<Uint8Array> } | undefined>
  /** By path in byte order, after a path, at most `limit` (1 to 1,000, default 1,000). */
  list(query: {
    readonly prefix?: string
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly BlobInfo[]>
  /** True when there was one. */
  delete(path: string): Promise<boolean>
}
