/** Identifies a person, device or program that changes documents. */
export interface Actor {
  readonly tenant: string
  readonly user: string
  /** IP of the client; absent: a job of the host */
  readonly address?: string
  readonly method?: string
  /** Path of the request; of a job `jobs/<type>/<id>` */
  readonly path: string
  /** Id of the request in the log */
  readonly request?: string
}
