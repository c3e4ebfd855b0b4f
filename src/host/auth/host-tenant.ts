/** Tenant that owns the host's own records; tenants of users cannot have this name. */
export const HOST_TENANT = '_host'
