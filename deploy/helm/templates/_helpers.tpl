{{- define "switchboard.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "switchboard.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "switchboard.labels" -}}
{{ include "switchboard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "switchboard.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end -}}

{{/* Environment of the server and of commands. */}}
{{- define "switchboard.environment" -}}
env:
  {{- range $name, $value := .Values.config }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
  - { name: SHUTDOWN_GRACE_MS, value: {{ mul .Values.shutdownGraceSeconds 1000 | quote }} }
{{- if .Values.existingSecret }}
envFrom:
  - secretRef: { name: {{ .Values.existingSecret }} }
{{- else if not .Values.embeddedDatabase.enabled }}
{{- fail "Set existingSecret to a Secret with DATABASE_URL and SECRET_KEY, or embeddedDatabase.enabled=true." }}
{{- end }}
{{- end -}}

{{/* As the image's own user; nothing can be written but the volumes. */}}
{{- define "switchboard.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "switchboard.securityContext" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}
