package s3

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// findCredentials looks where AWS tools do, but only for what a server without a person at it has: keys in the environment,
// the role of a pod, keys in the shared files, the role of a container, the role of the machine. The SDK's own chain would
// also bring the clients of interactive sign-ins along.
func findCredentials(region string, env func(string) string) (aws.CredentialsProvider, error) {
	if id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return credentials.NewStaticCredentialsProvider(id, secret, env("AWS_SESSION_TOKEN")), nil
	}
	if token := env("AWS_WEB_IDENTITY_TOKEN_FILE"); token != "" {
		service := sts.Options{Region: region}
		if address := env("AWS_ENDPOINT_URL_STS"); address != "" {
			service.BaseEndpoint = &address
		}
		return stscreds.NewWebIdentityRoleProvider(sts.New(service), env("AWS_ROLE_ARN"), stscreds.IdentityTokenFile(token),
			func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = env("AWS_ROLE_SESSION_NAME") }), nil
	}
	keys, err := sharedKeys(env)
	if err != nil || keys.HasKeys() {
		return credentials.StaticCredentialsProvider{Value: keys}, err
	}
	container := env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		container = "http://169.254.170.2" + path
	}
	if container == "" {
		return ec2rolecreds.New(func(o *ec2rolecreds.Options) {
			o.Client = imds.New(imds.Options{Endpoint: env("AWS_EC2_METADATA_SERVICE_ENDPOINT")})
		}), nil
	}
	return endpointcreds.New(container, func(o *endpointcreds.Options) {
		o.AuthorizationToken = env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				token, err := os.ReadFile(file)
				return strings.TrimSpace(string(token)), err
			})
		}
	}), nil
}

// sharedKeys reads the keys of the profile from the shared files. A profile that the environment names must have keys there.
func sharedKeys(env func(string) string) (aws.Credentials, error) {
	home, _ := os.UserHomeDir()
	profile := env("AWS_PROFILE")
	files := []string{
		cmp.Or(env("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")),
		cmp.Or(env("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config")),
	}
	for _, name := range files {
		values, err := readProfile(name, cmp.Or(profile, "default"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aws.Credentials{}, fmt.Errorf("read the credentials of S3: %w", err)
		}
		keys := aws.Credentials{
			AccessKeyID: values["aws_access_key_id"], SecretAccessKey: values["aws_secret_access_key"],
			SessionToken: values["aws_session_token"], Source: name,
		}
		if keys.HasKeys() {
			return keys, nil
		}
	}
	if profile != "" {
		return aws.Credentials{}, fmt.Errorf("AWS_PROFILE: %s has no aws_access_key_id and aws_secret_access_key in %s; other kinds of profiles are not supported",
			profile, strings.Join(files, " or "))
	}
	return aws.Credentials{}, nil
}

// readProfile reads the values of a profile, which is a section of a file.
func readProfile(name, profile string) (map[string]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	values, isOurs := map[string]string{}, false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if section, isSection := strings.CutPrefix(line, "["); isSection {
			section = strings.TrimSpace(strings.TrimSuffix(section, "]"))
			isOurs = strings.TrimSpace(strings.TrimPrefix(section, "profile ")) == profile
		} else if key, value, isValue := strings.Cut(line, "="); isOurs && isValue {
			values[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return values, lines.Err()
}
