/** Stores objects by path. Paths are segments joined by `/`, never empty, `.` or `..`; at most 1,024 bytes. */
export interface BlobInfo {
  readonly path: string
  /** size in bytes */
  readonly size: number
  /** digest of the content in hex; SHA-256 unless `put` asked for another digest */
  readonly etag: string
  readonly contentType: string
  /** time of the last write, epoch ms */
  readonly modified: number
  readonly metadata: Readonly<Record<string, string>>
}

/** MD5 exists for S3 clients only: it does not protect against forgery. */
export type Digest = 'sha256' | 'md5'

export interface Blobs {
  /** Replaces all or nothing. `expect`: the required current etag, or `'absent'`; otherwise throws `CONFLICT`. */
  put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: {
      readonly contentType?: string
      readonly metadata?: Readonly<Record<string, string>>
      readonly expect?: string
      /** digest used for the etag; default `sha256` */
      readonly digest?: Digest
    },
  ): Promise<BlobInfo>
  info(path: string): Promise<BlobInfo | undefined>
  /** Reads an object, or the bytes `from` to `until`, both included. */
  get(
    path: string,
    range?: { readonly from: number; readonly until?: number },
  ): Promise<{ readonly info: BlobInfo; readonly content: AsyncIterable<Uint8Array> } | undefined>
  /** Copies content, time and metadata to another path. Returns false when the source does not exist. */
  copy(source: string, target: string): Promise<boolean>
  /** Lists objects in byte order of their paths, after a path, at most `limit` (1 to 1,000, default 1,000). */
  list(query: {
    readonly prefix?: string
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly BlobInfo[]>
  /** Deletes an object. Returns whether it existed. */
  delete(path: string): Promise<boolean>
}
